"""`python -m chapterverse` is the command line."""

from chapterverse.surfaces.cli import main

if __name__ == "__main__":
    main()
