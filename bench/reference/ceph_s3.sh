#!/bin/sh
# A Ceph of one node with its S3 gateway, all data in memory: what bench/remote compares on.
#
#   ceph_s3.sh FOLDER PORT
#
# Ends when the gateway answers at 127.0.0.1:PORT, which knows the access key "k" and the secret key "s". The daemons go
# on: their process ids are in FOLDER/run/*.pid. Their monitor takes the ports 13300 and 16789, so there is one at a time.
set -eu
folder=$1
port=$2
rm -rf "$folder"
for part in mon osd mgr log run; do mkdir -p "$folder/$part"; done
monitor='[v2:127.0.0.1:13300,v1:127.0.0.1:16789]'
id=$(cat /proc/sys/kernel/random/uuid)
export CEPH_CONF="$folder/ceph.conf"
cat > "$CEPH_CONF" <<END
[global]
fsid = $id
mon host = $monitor
public addr = 127.0.0.1
keyring = $folder/keyring
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
osd pool default pg num = 8
mon max pg per osd = 1000
osd objectstore = memstore
memstore device bytes = 8589934592
osd data = $folder/osd
mon data = $folder/mon
mgr data = $folder/mgr
run dir = $folder/run
log file = $folder/log/\$name.log
admin socket = $folder/run/\$name.\$pid.asok
pid file = $folder/run/\$name.pid
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$port
END
keyring="$folder/keyring"
said="$folder/log/said"
key() { ceph-authtool "$keyring" --gen-key "$@" >> "$said"; }
ceph-authtool --create-keyring "$keyring" >> "$said"
key -n mon. --cap mon 'allow *'
key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *' --cap mds 'allow *'
key -n mgr.x --cap mon 'allow profile mgr' --cap osd 'allow *'
key -n osd.0 --cap mon 'allow profile osd' --cap osd 'allow *' --cap mgr 'allow profile osd'
key -n client.rgw --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
monmaptool --create --fsid "$id" --addv a "$monitor" "$folder/monmap" >> "$said"
ceph-mon --mkfs -i a --monmap "$folder/monmap" --keyring "$keyring" >> "$said" 2>&1
ceph-mon -i a >> "$said" 2>&1
ceph auth import -i "$keyring" >> "$said" 2>&1
ceph-mgr -i x --setuser root --setgroup root >> "$said" 2>&1
ceph osd create >> "$said" 2>&1
ceph-osd -i 0 --mkfs >> "$said" 2>&1
ceph-osd -i 0 >> "$said" 2>&1
# Waits until a command succeeds.
await() {
  left=120
  until "$@" >> "$said" 2>&1; do
    left=$((left - 1))
    if [ "$left" -eq 0 ]; then
      tail -n 20 "$said" >&2
      exit 1
    fi
    sleep 0.5
  done
}
has_osd() { ceph osd stat | grep -q '1 up'; }
answers() { curl -s -m 2 "http://127.0.0.1:$port/" | grep -q ListAllMyBuckets; }
await has_osd
radosgw -n client.rgw --setuser root --setgroup root >> "$said" 2>&1
await answers
radosgw-admin -n client.rgw user create --uid=u --display-name=u --access-key=k --secret-key=s >> "$said" 2>&1
