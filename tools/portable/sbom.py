#!/usr/bin/python3
"""Writes what is linked into the programs of script/portable, as SPDX 2.3: sbom.py VERSION FOLDER > FILE

FOLDER has the Debian packages and sources that they were built from.
"""

import datetime
import json
import pathlib
import re
import sys
import urllib.parse


def packages_of(folder):
    """Name, version and purl of each Debian package, by the names of the files."""
    for file in sorted(folder.glob("*.deb")):
        name, version, architecture = file.stem.split("_")
        yield name, urllib.parse.unquote(version), f"?arch={architecture}&distro=bookworm"
    for file in sorted(folder.glob("*.dsc")):
        name, version = file.stem.split("_")
        yield name, version, "?arch=source&distro=bookworm"


def element(name, version, purl):
    return {
        "SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.]', '-', name)}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
    }


def link_of(package):
    """A package that ends in a number has a shared library."""
    return "DYNAMIC_LINK" if package[-1].isdigit() else "STATIC_LINK"


def main():
    version, folder = sys.argv[1:]
    own = element("muster", version, f"pkg:generic/muster@{version}")
    parts = [element(name, version, f"pkg:deb/debian/{name}@{urllib.parse.quote(version)}{qualifiers}")
             for name, version, qualifiers in packages_of(pathlib.Path(folder))]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"muster-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/muster-{version}",
        "creationInfo": {"created": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: muster-sbom"]},
        "packages": [own, *parts],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]},
            *({"spdxElementId": own["SPDXID"], "relationshipType": link_of(part["name"]), "relatedSpdxElement": part["SPDXID"]} for part in parts),
        ],
    }
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
