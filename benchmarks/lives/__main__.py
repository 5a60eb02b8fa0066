"""Run the recorder."""

from benchmarks.lives.command import main

if __name__ == "__main__":
    main()
