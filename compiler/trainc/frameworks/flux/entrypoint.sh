set -eu

flux=/mnt/flux
home=$flux/home

# The volume at /opt/software outlives a container that is restarted; the links of the view lead there.
if [ ! -e /opt/software/.complete ]; then
  cp -RPf "$flux/software/." /opt/software/
  touch /opt/software/.complete
fi

# Flux comes last on both paths: the image's own programs win. The job gets its PYTHONPATH back below.
python=${PYTHONPATH-}
site=
for folder in "$flux"/view/lib/python3*/site-packages; do
  site=$folder
done
cat > "$flux/flux-view.sh" <<END
export PATH=\$PATH:$flux/view/bin
export PYTHONPATH=\${PYTHONPATH:+\$PYTHONPATH:}$site
export fluxsocket=local://$home/run/local
END
. "$flux/flux-view.sh"

# A restarted broker begins anew: the instance that it was part of is gone.
rm -rf "$home"
mkdir -p "$home/config"
mkdir -m 700 "$home/run" "$home/state"

# The key must be its reader's own, and nobody else's to read; the Secret's file belongs to root.
(umask 077 && cat /curve/curve.cert > "$home/curve.cert")

# Cores are slots for processes here: which CPUs a pod may use is the kubelet's decision, so Flux does not compare them
# with what it finds. The connect address is a name that the pods' DNS search list completes.
devices=
if [ -n "$gpus" ]; then
  devices="gpus = \"$gpus\""
fi
cat > "$home/config/broker.toml" <<END
[bootstrap]
curve_cert = "$home/curve.cert"
default_port = 8050
default_bind = "tcp://$device:%p"
default_connect = "tcp://%h.$subdomain:%p"
hosts = [{ host = "$hosts" }]

[resource]
noverify = true

[[resource.config]]
hosts = "$hosts"
cores = "$cores"
$devices

[sched-fluxion-qmanager]
queue-policy = "$policy"
END

broker=(flux start --config-path="$home/config" --setattr=rundir="$home/run" --setattr=statedir="$home/state"
  --setattr=local-uri="local://$home/run/local")

# Every pod but the first lends its broker. It ends well when the first one's job has; else the first pod is being
# restarted, and will want it again.
if [ "$(uname -n)" != "$lead" ]; then
  trap 'kill "$running" || :; exit 143' TERM
  while :; do
    "${broker[@]}" &
    running=$!
    if wait "$running"; then
      exit 0
    fi
    echo "the broker has lost the first pod; it will look for it again in 15 seconds" >&2
    sleep 15
  done
fi

# Without a command the instance stays, for somebody to work in:  . /mnt/flux/flux-view.sh; flux proxy $fluxsocket bash
if [ $# -eq 0 ]; then
  exec "${broker[@]}" sleep infinity
fi
# shellcheck disable=SC2086 # options, one word each
exec "${broker[@]}" flux run $options --env=PYTHONPATH="$python" "$@"
