"""What a design is made of: the candidates of a file, and how long a program takes on them."""
