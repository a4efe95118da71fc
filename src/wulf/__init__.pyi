# What `import wulf` offers, for editors and type checkers; __init__.py imports each when it is first used.
from wulf.api.changes import Change as Change
from wulf.api.changes import compare as compare
from wulf.api.cluster import Cluster as Cluster
from wulf.api.pictures import Map as Map
from wulf.api.pictures import Picture as Picture
from wulf.api.results import Results as Results
from wulf.api.results import RunEntry as RunEntry
from wulf.api.results import Runs as Runs
from wulf.api.results import load as load
from wulf.api.results import runs as runs
from wulf.core.errors import LabError as LabError
from wulf.core.errors import NodeError as NodeError
from wulf.core.errors import UsageError as UsageError
from wulf.core.errors import WulfError as WulfError
from wulf.core.findings import Evidence as Evidence
from wulf.core.findings import Finding as Finding
from wulf.core.findings import Severity as Severity
from wulf.core.records import Provenance as Provenance
from wulf.core.records import Record as Record
from wulf.core.records import Verdict as Verdict
from wulf.store.reading import StoreError as StoreError

__version__: str
