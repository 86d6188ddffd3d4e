"""Workers of XGBoost: an all-reduce, and a model that all of them train, each on its part of the data.

XGBoost 3 takes the tracker's address, the number of workers and the worker's rank from its caller instead of the
environment. So this program reads the variables, and the first worker starts the tracker, as a training script does.
"""

import json
import os
import socket

import numpy as np
import xgboost
from xgboost import collective
from xgboost.tracker import RabitTracker

DMLC = ("DMLC_TASK_ID", "DMLC_NUM_WORKER", "DMLC_TRACKER_PORT", "DMLC_TRACKER_URI")
XGBOOSTJOB = ("RANK", "WORLD_SIZE", "MASTER_PORT", "MASTER_ADDR")

*numbers, host = (os.environ[name] for name in (DMLC if DMLC[0] in os.environ else XGBOOSTJOB))
task, workers, port = map(int, numbers)
tracker = None
if task == 0:
    tracker = RabitTracker(n_workers=workers, host_ip="0.0.0.0", port=port)
    tracker.start()
given = {"dmlc_tracker_uri": host, "dmlc_tracker_port": port, "dmlc_task_id": str(task), "dmlc_retry": 20}
print(f"connects to {host}", flush=True)
with collective.CommunicatorContext(**given):
    total = collective.allreduce(np.array([task + 1.0]), collective.Op.SUM)
    rows = np.arange(100.0)[task::workers].reshape(-1, 1)
    model = xgboost.train({"max_depth": 2}, xgboost.DMatrix(rows, rows[:, 0]), num_boost_round=2)
    proof = {
        "task": task,
        "workers": collective.get_world_size(),
        "host": socket.gethostname(),
        "sum": float(total[0]),
        "model": model.get_dump(),
    }
    print("PROOF " + json.dumps(proof), flush=True)
if tracker is not None:
    tracker.wait_for(timeout=30)
