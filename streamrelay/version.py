"""The version of this copy, and the name under which package indexes list it.

`pyproject.toml` takes the version from here, so a checkout that is not installed knows it too, and no command reads
package metadata to print it. The distribution is not called `streamrelay`: that name belongs to another project on
PyPI. The package that Python imports and the command are.
"""

VERSION = "0.1.0"
DISTRIBUTION = "tmux-streamrelay"
