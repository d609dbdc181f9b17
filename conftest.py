"""Table of contents: the plugins that make `pytest benchmarks` work. Importing them imports nothing heavy."""

pytest_plugins = [
    "fixtures.cases",
    "fixtures.session",
    "fixtures.verification",
    "fixtures.salience",
    "fixtures.recording",
    "fixtures.conformance.plugin",
    "fixtures.divergence.plugin",
    "fixtures.divergence.text_plugin",
    "fixtures.rationales.plugin",
    "fixtures.gate",
    "fixtures.summary",
    "fixtures.hints",
]
