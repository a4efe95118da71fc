"""A database split over ranks: nothing is lost, and the best of all volumes' best are those of the whole."""

import random
from itertools import islice, pairwise

from wulf.apps.sequences.volumes import LINE, PIECE, best, letters, padded, sequences

FASTA = ">a one\nACGT\nAC\n>b\nG\n>c\nTTT\n>d\n\n"


def test_records_and_their_letters():
    records = list(sequences(FASTA.splitlines(keepends=True)))
    assert "".join(records) == FASTA
    assert [letters(record) for record in records] == [6, 1, 3, 0]
    assert list(sequences([])) == []


def test_the_best_of_the_volumes_best_are_the_best_of_all():
    draws = random.Random(1)
    hits = [(f"q{draws.randrange(3)}", f"s{i:03d}", str(draws.randrange(20))) for i in range(200)]
    volumes = [best(islice(hits, rank, None, 3), 5) for rank in range(3)]
    merged = best([hit for volume in volumes for hit in volume], 5)
    assert merged == best(hits, 5) and len(merged) == 15
    assert all(a[2] != b[2] or a[1] < b[1] for a, b in pairwise(merged) if a[0] == b[0])


def test_lines_end_where_a_piece_does():
    assert PIECE % LINE == 0
    assert len(padded(["hit", 0, "q"])) == LINE == len(padded(["x" * (LINE - 1)]))
    assert len(padded(["x" * LINE])) == 2 * LINE
