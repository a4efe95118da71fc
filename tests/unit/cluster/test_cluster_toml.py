"""cluster.toml: what it can say, and errors that name file, line and field."""

import pytest

from wulf.cluster.cluster_toml import line_of, read
from wulf.cluster.inventory import Inventory, Node
from wulf.core.errors import UsageError

FULL = """\
# our cluster
nodes = ["login", "n[1-3]"]
launcher = "ssh"
network = "10.0.0.0/24"
ssh_config = "ssh_config"

[node.n3]
address = "10.0.0.13"
ssh = "admin@n3.example.org"
"""


def load(tmp_path, text):
    path = tmp_path / "cluster.toml"
    path.write_text(text)
    return read(path)


def test_everything_it_can_say(tmp_path):
    (tmp_path / "ssh_config").write_text("")
    inventory = load(tmp_path, FULL)
    assert inventory == Inventory(
        (Node("login"), Node("n1"), Node("n2"), Node("n3", "10.0.0.13", "admin@n3.example.org")),
        launcher="ssh",
        network="10.0.0.0/24",
        ssh_config=tmp_path / "ssh_config",
    )


def test_gateways_which_need_not_be_measured(tmp_path):
    inventory = load(tmp_path, 'nodes = "n[1-2]"\ngateways = "g[1-2]"\ngateway_ssh_config = "/etc/ssh/inner"\n')
    assert (inventory.gateways, inventory.gateway_ssh_config) == (("g1", "g2"), "/etc/ssh/inner")


def test_roles_of_nodes(tmp_path):
    inventory = load(tmp_path, 'nodes = "n[1-4]"\n[roles]\nhead = "n1"\ncompute = ["n2", "n[3-4]"]\n')
    assert inventory.roles == {"n1": "head", "n2": "compute", "n3": "compute", "n4": "compute"}


def test_the_least_it_can_say(tmp_path):
    assert load(tmp_path, 'nodes = "n[1-2]"\n') == Inventory((Node("n1"), Node("n2")))


@pytest.mark.parametrize(
    ("text", "line", "field", "reason"),
    [
        ("", 1, "nodes", "is missing"),
        ('nodes = "n[1-3]"\n[roles]\nhead = "n7"\n', 3, "roles.head", "n7 is not among nodes"),
        ('nodes = "n[1-3]"\n[roles]\na = "n1"\nb = "n[1-2]"\n', 4, "roles.b", "n1 has the role 'a' already"),
        ('nodes = "n1"\n[roles]\na = "n["\n', 3, "roles.a", "is not a node set"),
        ('# x\nnodes = "n[1-"\n', 2, "nodes", "is not a node set"),
        ("nodes = 4\n", 1, "nodes", "valid list, not 4"),
        ('nodes = ["n1", 2]\n', 1, "nodes", "valid string, not 2"),
        ("nodes = []\n", 1, "nodes", "names no node"),
        ('nodes = ["n1", "n[1-2]"]\n', 1, "nodes", "n1 stands in it more than once"),
        ('nodes = ["-oX"]\n', 1, "nodes", "'-oX' is not a node name"),
        ('nodes = "n1"\nlauncher = "shh"\n', 2, "launcher", "'shh' is no launcher: lab, local"),
        ('nodes = "n1"\nnetwork = "10.0.0.0/40"\n', 2, "network", "'10.0.0.0/40' is not a network"),
        ('nodes = "n1"\nnetwrok = "10.0.0.0/8"\n', 2, "netwrok", "unknown key; did you mean 'network'?"),
        ('nodes = "n1"\nzzz = 1\n', 2, "zzz", "there are: nodes, launcher, network"),
        ('nodes = "n1"\n[slurm]\nnodelist = "n1"\n', 3, "slurm.nodelist", "wulf decides Slurm's --nodelist itself"),
        ('nodes = "n1"\n[slurm]\ntime = 1.5\n', 3, "slurm.time", "valid string, not 1.5"),
        ('nodes = "n1"\n[slurm]\nexclusive = false\n', 3, "slurm.exclusive", "valid string"),
        ('nodes = "n1"\nssh_config = "gone"\n', 2, "ssh_config", "gone is not a file"),
        ('nodes = "n[1-3]"\n\n[node.n4]\n', 3, "node.n4", "is not among nodes; there are n[1-3]"),
        ('nodes = "n1"\n[node.n1]\nadress = "10.0.0.1"\n', 3, "node.n1.adress", "did you mean 'address'?"),
        ('nodes = "n1"\n[node.n1]\naddress = 10\n', 3, "node.n1.address", "valid string, not 10"),
        ('nodes = "n1"\n[node.n1]\nssh = "-oX"\n', 3, "node.n1.ssh", "is not an ssh destination"),
        ('nodes = "n1"\nnode.n1.address = ""\n', 2, "node.n1.address", "at least 1 character"),
        ('nodes = "n1"\nnode = 3\n', 2, "node", "valid dictionary, not 3"),
    ],
)
def test_faults_are_named_with_file_line_and_field(tmp_path, text, line, field, reason):
    with pytest.raises(UsageError) as caught:
        load(tmp_path, text)
    assert caught.value.what.startswith(f"{tmp_path}/cluster.toml:{line}: {field}: ")
    assert reason in caught.value.what
    assert caught.value.next_step


def test_every_fault_is_told_at_once(tmp_path):
    with pytest.raises(UsageError) as caught:
        load(tmp_path, 'lancher = "ssh"\nnetwork = 4\nnodes = "n1"\n')
    assert [line.split(":")[1] for line in caught.value.what.splitlines()] == ["2", "1"]


@pytest.mark.parametrize(
    ("text", "place"), [('nodes = "n1\n', "1:12"), ("nodes = \n", "1:9"), ('nodes = "n1"\n\n[node\n', "3:6")]
)
def test_what_is_not_toml(tmp_path, text, place):
    with pytest.raises(UsageError, match=f"cluster.toml:{place}: not TOML: "):
        load(tmp_path, text)


def test_a_document_that_ends_too_early(tmp_path):
    with pytest.raises(UsageError, match=r"cluster.toml:2:1: not TOML"):
        load(tmp_path, 'nodes = ["n1",\n')


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match=r"absent: .* inventory: No such file"):
        read(tmp_path / "absent")
    with pytest.raises(UsageError, match="can't read the inventory: Is a directory"):
        read(tmp_path)
    (tmp_path / "latin").write_bytes(b'nodes = "n\xfc1"\n')
    with pytest.raises(UsageError, match=r"latin: .* not UTF-8 text"):
        read(tmp_path / "latin")


@pytest.mark.parametrize(
    ("location", "line"),
    [(("nodes", 1), 2), (("network",), 4), (("node", "n3"), 7), (("node", "n3", "ssh"), 9), (("absent",), 1)],
)
def test_lines(location, line):
    assert line_of(FULL, location) == line


def test_lines_of_quoted_and_dotted_keys():
    text = 'nodes = [\n  "a=b",\n]\n["node"."n-1"] # here\n\'ssh\' = "x"\n[other]\nnode.x = 1\n'
    assert line_of(text, ("node", "n-1", "ssh")) == 5
    assert line_of(text, ("other", "node", "x")) == 7
