"""The models that `muster check` trains, to show whether distributed TensorFlow works.

    python check.pyz MODEL --help

Each process of a training job runs this program. What it prints for muster is one JSON object a
line (see events); everything else on its output is just output.
"""
