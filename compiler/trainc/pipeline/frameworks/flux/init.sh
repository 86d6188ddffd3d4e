set -eu

# Copies Flux out of its own image into the volume that it shares with the job's container.
# What lies in the view are links into /opt/software: both are needed, and links stay links.
view=$(readlink -f /opt/view)
mkdir -p /mnt/flux/view /mnt/flux/software
cp -RPf "$view/." /mnt/flux/view/
cp -RPf /opt/software/. /mnt/flux/software/
