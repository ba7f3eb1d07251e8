"""Who takes part, as TF_CONFIG says it, which muster gives to every process of a job."""

import dataclasses
import json
import os

from muster_check.events import Fault


@dataclasses.dataclass
class Membership:
    role: str
    index: int
    cluster: dict  # role -> list of host:port

    def others(self):
        """{"worker-1": "host:port", …}: everybody but this process."""
        return {f"{role}-{index}": address for role, addresses in self.cluster.items()
                for index, address in enumerate(addresses) if (role, index) != (self.role, self.index)}


def read():
    """A Fault when TF_CONFIG is not there or cannot be understood."""
    text = os.environ.get("TF_CONFIG")
    if not text:
        raise Fault("training", "no TF_CONFIG: this model runs as a job of muster")
    try:
        config = json.loads(text)
        role, index = config["task"]["type"], int(config["task"]["index"])
        cluster = {name: list(addresses) for name, addresses in config["cluster"].items()}
    except KeyError as error:
        raise Fault("training", f"TF_CONFIG cannot be understood: it has no {error}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise Fault("training", f"TF_CONFIG cannot be understood: {error}") from error
    return Membership(role, index, cluster)
