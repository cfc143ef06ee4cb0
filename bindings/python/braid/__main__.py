"""`python -m braid` is the program `braid`."""

from ._program import main

if __name__ == "__main__":
    main()
