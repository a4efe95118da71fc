"""x"""


def plan():
    return []
