#!/bin/sh
# Run by boot.sh in the system that it has booted. What is tried goes to the second serial port; the last line is the result.
exec >/dev/ttyS1 2>&1
unit=pathweave@xmp.service
bad=0
# How long something may take until it is so: the processor is one that qemu plays.
PATIENCE=300

# check WHAT COMMAND...: one thing that has to be so.
check() {
    what=$1
    shift
    said=$("$@" 2>&1)
    if [ $? = 0 ]; then
        echo "yes  $what"
    else
        bad=$((bad + 1))
        echo "NO   $what"
        echo "$said" | sed 's/^/       /'
    fi
}

# is FOUND WANTED
is() { [ "$1" = "$2" ] || { echo "it is: $1, not: $2"; return 1; }; }
has() { case $1 in *"$2"*) ;; *) echo "$1"; return 1 ;; esac; }

# until_so COMMAND...: waits until it is so.
until_so() {
    deadline=$(($(cut -d. -f1 /proc/uptime) + PATIENCE))
    until said=$("$@" 2>&1); do
        if [ "$(cut -d. -f1 /proc/uptime)" -gt "$deadline" ]; then
            echo "not within $PATIENCE s: $said"
            return 1
        fi
        sleep 0.2
    done
}

of_unit() { systemctl show --value -p "$2" "$1"; }
default() { cat /proc/sys/net/ipv4/tcp_congestion_control; }
ours() { tr ' ' '\n' </proc/sys/net/ipv4/tcp_available_congestion_control | grep '^pw_'; }
nothing_is_loaded() { is "$(ours)$(ls /sys/fs/bpf | grep pathweave)" ""; }
ran_before() { [ "$(of_unit "$1" ActiveEnterTimestampMonotonic)" -le "$(of_unit "$2" InactiveExitTimestampMonotonic)" ]; }
# What the administrator has added stays: docs/administrators.md says so.
left_behind() {
    rm -f /etc/sysctl.d/90-pathweave.conf /root/pathweave.deb
    find / -xdev -path /var/log -prune -o -path /var/cache -prune -o -name '*pathweave*' -print
    # systemd keeps the state of units that were there in its own folder, and removes it by itself.
    find /run -path /run/systemd -prune -o -name '*pathweave*' -print
}

subflows_under() { nsenter --net=/run/netns/a ss -tinH | grep -A1 ":5001" | grep -cE "[[:space:]]$1 "; }
two_subflows_under() { is "$(subflows_under "$1")" 2; }
both_cables_carried() {
    for cable in 1 2; do
        bytes=$(nsenter --net=/run/netns/a ss -tinH src "10.0.$cable.1" | grep -o 'bytes_acked:[0-9]*' | cut -d: -f2)
        [ "${bytes:-0}" -gt 1000000 ] || { echo "cable $cable carried ${bytes:-0} bytes"; return 1; }
        echo "cable $cable carried $bytes bytes" >>/root/carried
    done
}

# Two hosts as namespaces, with two cables of 50 Mbit/s: one alone would be slower.
lay_cables() {
    set -e
    for host in a b; do
        ip netns add $host
        ip -n $host link set lo up
        ip -n $host mptcp limits set subflow 4 add_addr_accepted 4
    done
    for cable in 1 2; do
        ip link add c$cable netns a type veth peer name c$cable netns b
        ip -n a addr add 10.0.$cable.1/24 dev c$cable
        ip -n b addr add 10.0.$cable.2/24 dev c$cable
        ip -n a link set c$cable up
        ip -n b link set c$cable up
        tc -n a qdisc add dev c$cable root tbf rate 50mbit burst 30kb latency 20ms
    done
    ip -n a mptcp endpoint add 10.0.2.1 dev c2 subflow
    ip -n b mptcp endpoint add 10.0.2.2 dev c2 signal
}

carry() {
    nsenter --net=/run/netns/b python3 /root/boot-traffic.py receive 20000000 >/root/receiver 2>&1 3>&- &
    until_so grep -q listening /root/receiver || return 1
    nsenter --net=/run/netns/a python3 /root/boot-traffic.py send 20000000 </root/open >/root/sender 2>&1 3>&- &
    until_so grep -q 'received 20000000' /root/receiver || { cat /root/sender /root/receiver; return 1; }
}

new_kernel() {
    check "the unit is active" is "$(of_unit $unit ActiveState)" active
    check "the controller was loaded before sysctl.d was applied" ran_before $unit systemd-sysctl.service
    check "sysctl.d made it the default" is "$(default)" pw_xmp
    check "kernel check finds all that is needed" pathweave-linux kernel check
    check "status knows what is loaded" has "$(pathweave-linux kernel status --json)" '"known":true'
    check "two cables between two namespaces" lay_cables
    # The sender keeps its connection open until this is closed.
    mkfifo /root/open
    exec 3<>/root/open
    check "MPTCP carries 20 MB" carry
    check "under pw_xmp" has "$(cat /root/sender)" "sent 20000000 under pw_xmp"
    check "over both cables" both_cables_carried
    check "both subflows have pw_xmp" two_subflows_under pw_xmp
    check "metrics count the subflows of both ends" has "$(pathweave-linux metrics)" 'pathweave_subflows{controller="pw_xmp"} 4'
    systemctl stop $unit
    check "the stopped unit is inactive" is "$(of_unit $unit ActiveState)/$(of_unit $unit Result)" inactive/success
    check "stopping it gives the default from before back" is "$(default)" "$before"
    check "and to the open connection's subflows" two_subflows_under "$before"
    check "nothing is loaded then" nothing_is_loaded
    exec 3>&-
    systemctl start $unit
    check "it starts again" is "$(of_unit $unit ActiveState)/$(ours)" active/pw_xmp
    systemctl restart systemd-sysctl.service
    check "sysctl.d makes it the default again" is "$(default)" pw_xmp
    ip netns del a
    ip netns del b
    check "the package can be purged while it is loaded" dpkg --purge pathweave-linux
    check "the purge gives the default back" is "$(default)" "$before"
}

old_kernel() {
    check "the unit is inactive, not failed" is "$(of_unit $unit ActiveState)/$(of_unit $unit Result)" inactive/exec-condition
    pathweave-linux kernel check >/root/check 2>&1
    check "kernel check ends with status 1" is $? 1
    check "kernel check names the backported kernel" has "$(cat /root/check)" "apt install -t bookworm-backports linux-image-amd64"
    check "the journal says so, too" has "$(journalctl -b -u $unit -o cat --no-pager)" "bookworm-backports linux-image-amd64"
    check "sysctl.d names a controller that is not there, and no unit fails" \
        is "$(of_unit systemd-sysctl.service Result)$(systemctl --failed --plain --no-legend)" success
    check "the default is the kernel's own" is "$(default)" "$before"
    check "nothing is loaded" nothing_is_loaded
    check "the package can be purged" dpkg --purge pathweave-linux
}

# Debian's kernels have it as their default.
before=cubic
version=$(uname -r)
echo "Linux $version, $(systemctl --version | head -n 1)"
if dpkg --compare-versions "${version%%-*}" lt 6.10; then old_kernel; else new_kernel; fi
check "nothing is loaded after the purge" nothing_is_loaded
check "the purge leaves nothing" is "$(left_behind)" ""
cat /root/carried 2>/dev/null
journalctl -b -u $unit -o short-monotonic --no-pager | grep -v ' yes '
if [ "$bad" = 0 ]; then echo "result: passed on Linux $version"; else echo "result: $bad checks failed on Linux $version"; fi
