"""What `import wulf` offers to programs and notebooks (docs/how-to/python.md): the names of wulf/__init__.pyi.

Everything here is made of the layers below, as the commands are; the two know nothing of each other.
"""
