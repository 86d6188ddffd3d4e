set -eu

# Every variable here has a prefix: an assignment to a variable of the container would change it for the job.
trainc_flux=/mnt/flux
trainc_home=$trainc_flux/home

# The volume at /opt/software outlives a container that is restarted; the links of the view lead there.
if [ ! -e /opt/software/.complete ]; then
  cp -RPf "$trainc_flux/software/." /opt/software/
  touch /opt/software/.complete
fi

# Flux comes last on both paths: the image's own programs win. The job gets its PYTHONPATH back below.
trainc_python=${PYTHONPATH-}
trainc_site=
for trainc_folder in "$trainc_flux"/view/lib/python3*/site-packages; do
  trainc_site=$trainc_folder
done
cat > "$trainc_flux/flux-view.sh" <<END
export PATH=\$PATH:$trainc_flux/view/bin
export PYTHONPATH=\${PYTHONPATH:+\$PYTHONPATH:}$trainc_site
export fluxsocket=local://$trainc_home/run/local
END
. "$trainc_flux/flux-view.sh"

# A restarted broker begins anew: the instance that it was part of is gone.
rm -rf "$trainc_home"
mkdir -p "$trainc_home/config"
mkdir -m 700 "$trainc_home/run" "$trainc_home/state"

# The key must be its reader's own, and nobody else's to read; the Secret's file belongs to root.
(umask 077 && cat /curve/curve.cert > "$trainc_home/curve.cert")

# Cores are slots for processes here: which CPUs a pod may use is the kubelet's decision, so Flux does not compare them
# with what it finds. The connect address is a name that the pods' DNS search list completes.
trainc_devices=
if [ -n "$trainc_gpus" ]; then
  trainc_devices="gpus = \"$trainc_gpus\""
fi
cat > "$trainc_home/config/broker.toml" <<END
[bootstrap]
curve_cert = "$trainc_home/curve.cert"
default_port = 8050
default_bind = "tcp://$trainc_device:%p"
default_connect = "tcp://%h.$trainc_subdomain:%p"
hosts = [{ host = "$trainc_hosts" }]

[resource]
noverify = true

[[resource.config]]
hosts = "$trainc_hosts"
cores = "$trainc_cores"
$trainc_devices

[sched-fluxion-qmanager]
queue-policy = "$trainc_policy"
END

trainc_broker=(flux start --config-path="$trainc_home/config"
  --setattr=rundir="$trainc_home/run" --setattr=statedir="$trainc_home/state"
  --setattr=local-uri="local://$trainc_home/run/local")

# Every pod but the first lends its broker. It ends well when the first one's job has; else the first pod is being
# restarted, and will want it again.
if [ "$(uname -n)" != "$trainc_lead" ]; then
  trap 'kill "$trainc_running" || :; exit 143' TERM
  while :; do
    "${trainc_broker[@]}" &
    trainc_running=$!
    if wait "$trainc_running"; then
      exit 0
    fi
    echo "the broker has lost the first pod; it will look for it again in 15 seconds" >&2
    sleep 15
  done
fi

# Without a command the instance stays, for somebody to work in:  . /mnt/flux/flux-view.sh; flux proxy $fluxsocket bash
if [ $# -eq 0 ]; then
  exec "${trainc_broker[@]}" sleep infinity
fi
# shellcheck disable=SC2086 # options, one word each
exec "${trainc_broker[@]}" flux run $trainc_options --env=PYTHONPATH="$trainc_python" "$@"
