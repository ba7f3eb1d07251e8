"""Makes the objects of a file one after the other by Kubernetes' Python client, as TF-Spawner does.

    spawner.py OBJECTS.json

Its order is TF-Spawner's: the ConfigMap, then all Pods, then all Services, each when the one before it was answered.
"""

import json
import sys

from kubernetes import client, config

ORDER = ["ConfigMap", "Pod", "Service"]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        objects = json.load(file)["items"]
    config.load_kube_config()
    api = client.CoreV1Api()
    create = {"ConfigMap": api.create_namespaced_config_map, "Pod": api.create_namespaced_pod,
              "Service": api.create_namespaced_service}
    for made in sorted(objects, key=lambda each: ORDER.index(each["kind"])):
        create[made["kind"]](made["metadata"]["namespace"], made)


main()
