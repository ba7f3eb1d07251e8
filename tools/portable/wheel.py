"""Adds to a wheel what script/portable has installed for an architecture."""

import os
import pathlib
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# A wheel has no links, so the older names are scripts.
OLDER_NAME = '#!/bin/sh\nexec "${{0%/*}}/../../bin/muster" {command} "$@"\n'


class Programs(BuildHookInterface):
    """MUSTER_INSTALLED is the folder with bin, libexec and share; MUSTER_PLATFORM is the tag of the system."""

    def initialize(self, version, build_data):
        installed = pathlib.Path(os.environ["MUSTER_INSTALLED"])
        self.scripts = tempfile.TemporaryDirectory()
        build_data["tag"] = f"py3-none-{os.environ['MUSTER_PLATFORM']}"
        build_data["pure_python"] = False
        build_data["shared_scripts"][str(installed / "bin/muster")] = "muster"
        for path in installed.rglob("*"):
            place = path.relative_to(installed)
            if place.parts[0] == "bin" or path.is_dir() or "python" in place.parts:
                continue
            build_data["shared_data"][str(self.script_of(path) if path.is_symlink() else path)] = str(place)

    def script_of(self, link):
        script = pathlib.Path(self.scripts.name, link.name)
        script.write_text(OLDER_NAME.format(command="launch" if link.name == "torchrun" else f"compat {link.name}"))
        script.chmod(0o755)
        return script

    def finalize(self, version, build_data, artifact_path):
        self.scripts.cleanup()
