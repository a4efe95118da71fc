#!/bin/sh
# Settings that `wulf tune` kept in the run 20261122T010203-tune-ab12 of 2026-11-22, on n[1-4].
# Beside each: what it changed there, with the interval; or that this was not measured.
#
#   wulf-settings.sh apply     set what is listed below
#   wulf-settings.sh revert    set what was there before
#   wulf-settings.sh status    say which is in force; status 1 where one is not

settings() {
    # net.rmem_max: rate improved by 3.10 % (1.20 to 5.00), faster; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'net.rmem_max' '212992' '4194304' 'file' '/proc/sys/net/core/rmem_max'
    # net.busy_poll: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'net.busy_poll' '0' '50' 'file' '/proc/sys/net/core/busy_poll'
    # tcp.rmem: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'tcp.rmem' '4096 131072 6291456' '4096 131072 8388608' 'file' '/proc/sys/net/ipv4/tcp_rmem'
    # net.arp_ignore on eth0.100: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'net.arp_ignore on eth0.100' '0' '1' 'file' '/proc/sys/net/ipv4/conf/eth0.100/arp_ignore'
    # nic.mtu on eth0: rate improved by 3.10 % (1.20 to 5.00), faster; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'nic.mtu on eth0' '1500' '6000' 'file' '/sys/class/net/eth0/mtu'
    # nic.mtu on enp1s0: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'nic.mtu on enp1s0' '1500' '6000' 'file' '/sys/class/net/enp1s0/mtu'
    # nic.gro_max_size on eth0: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'nic.gro_max_size on eth0' '65536' '131072' 'ip' 'eth0' 'gro_max_size'
    # nic.gro on eth0: rtt -18.4 us (-18.9 to -17.8), faster; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'nic.gro on eth0' 'on' 'off' 'ethtool' 'eth0' '-k' '-K' 'rx-gro' 'generic-receive-offload'
    # nic.adaptive_rx on eth0: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'nic.adaptive_rx on eth0' 'on' 'off' 'adaptive' 'eth0' 'rx'
    # nic.rx_usecs on eth0: rtt -18.4 us (-18.9 to -17.8), faster; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'nic.rx_usecs on eth0' '3' '0' 'ethtool' 'eth0' '-c' '-C' 'rx-usecs' 'rx-usecs'
    # nic.ring_rx on enp1s0: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'nic.ring_rx on enp1s0' '256' '4096' 'ethtool' 'enp1s0' '-g' '-G' 'rx' 'RX'
    # nic.eee on eth0: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'nic.eee on eth0' 'on' 'off' 'eee' 'eth0'
    # irq.threaded on eth0: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'irq.threaded on eth0' '0' '1' 'flag' '/sys/class/net/eth0/threaded'
    # irq.rps_cpus on rx-0 of eth0: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'irq.rps_cpus on rx-0 of eth0' '0' '2,0000000f' 'mask' '/sys/class/net/eth0/queues/rx-0/rps_cpus'
    # mem.thp: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'mem.thp' 'always' 'madvise' 'choice' '/sys/kernel/mm/transparent_hugepage/enabled'
    # irq.irqbalance: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'irq.irqbalance' 'on' 'off' 'active' 'irqbalance.service'
    # irq.irqbalance_enabled: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'irq.irqbalance_enabled' 'enabled' 'disabled' 'enabled' 'irqbalance.service'
    # net.qdisc on eth0: not measured; run 20261122T010203-tune-ab12, 2026-11-22
    "$1" 'net.qdisc on eth0' 'pfifo_fast' 'fq' 'qdisc' 'eth0'
}

# What reads and writes one setting, by kind: read_KIND ARGUMENT... prints its value, write_KIND ARGUMENT... VALUE sets
# it. A value that can't be read is no output and a status other than 0.

# One word between each two: /proc/sys separates by tabs what it takes separated by spaces.
words() {
    set -f
    # shellcheck disable=SC2086
    set -- $1
    set +f
    printf '%s\n' "$*"
}

read_file() {
    [ -r "$1" ] && words "$(cat "$1")"
}

write_file() {
    printf '%s\n' "$2" >"$1"
}

# A file that shows its choices, and the one in brackets.
read_choice() {
    [ -r "$1" ] && sed -n 's/.*\[\([^]]*\)\].*/\1/p' "$1"
}

write_choice() {
    write_file "$@"
}

# A file that holds 0 or 1, or N or Y.
read_flag() {
    [ -r "$1" ] && sed -e 's/[Nn]/0/' -e 's/[Yy]/1/' "$1"
}

write_flag() {
    write_file "$@"
}

# A mask of CPUs: the kernel shows zeros that lead, and takes it without.
read_mask() {
    [ -r "$1" ] && sed -e 's/^[0,]*//' -e 's/^$/0/' "$1"
}

write_mask() {
    write_file "$@"
}

# INTERFACE ATTRIBUTE: what `ip` shows and sets by the same word.
read_ip() {
    ip -d link show dev "$1" | sed -n "s/.* $2 \([^ ]*\).*/\1/p" | head -n 1
}

write_ip() {
    ip link set dev "$1" "$2" "$3"
}

# INTERFACE SHOW SET WORD LABEL: of several lines of one label the last one is what is set, the first what could be.
read_ethtool() {
    ethtool "$2" "$1" | sed -n "s/^[[:space:]]*$5:[[:space:]]*\([^[:space:]]*\).*/\1/p" | tail -n 1
}

write_ethtool() {
    ethtool "$3" "$1" "$4" "$6"
}

# INTERFACE rx|tx: both stand in one line, 'Adaptive RX: off  TX: off'.
read_adaptive() {
    case $2 in
    rx) ethtool -c "$1" | sed -n 's/^Adaptive RX: \([^ ]*\).*/\1/p' ;;
    tx) ethtool -c "$1" | sed -n 's/^Adaptive RX:.*TX: \([^ ]*\).*/\1/p' ;;
    esac
}

write_adaptive() {
    ethtool -C "$1" "adaptive-$2" "$3"
}

# INTERFACE: energy-efficient Ethernet.
read_eee() {
    ethtool --show-eee "$1" | sed -n 's/.*EEE status: enabled.*/on/p; s/.*EEE status: disabled.*/off/p'
}

write_eee() {
    ethtool --set-eee "$1" eee "$2"
}

read_qdisc() {
    tc qdisc show dev "$1" root | sed -n 's/^qdisc \([^ ]*\) .*/\1/p' | head -n 1
}

write_qdisc() {
    tc qdisc replace dev "$1" root "$2"
}

# UNIT: whether it runs, on or off.
read_active() {
    case $(systemctl is-active "$1") in
    active) echo on ;;
    inactive | failed) echo off ;;
    *) return 1 ;;
    esac
}

write_active() {
    if [ "$2" = on ]; then systemctl start "$1"; else systemctl stop "$1"; fi
}

# UNIT: systemd's word for whether it is started with the node.
read_enabled() {
    systemctl is-enabled "$1" | grep . # status 1 says 'disabled'
}

write_enabled() {
    [ "$2" = masked ] || systemctl unmask "$1"
    case $2 in
    enabled) systemctl enable "$1" ;;
    disabled) systemctl disable "$1" ;;
    masked) systemctl mask "$1" ;;
    *) return 1 ;;
    esac
}

# The longest that a CPU may take to wake, in us, holds while a process has the file open; 'none' ends that process.
latency_holder=/run/wulf-latency

read_latency() {
    if [ -r "$latency_holder" ] && read -r pid value <"$latency_holder" && kill -0 "$pid" 2>/dev/null; then
        printf '%s\n' "$value"
    else
        echo none
    fi
}

write_latency() {
    if [ -r "$latency_holder" ] && read -r pid value <"$latency_holder"; then
        kill "$pid" 2>/dev/null
        rm -f "$latency_holder"
    fi
    [ "$1" = none ] && return 0
    # the kernel reads text as hexadecimal
    setsid sh -c 'exec 3>/dev/cpu_dma_latency && printf "0x%08x" "$1" >&3 &&
        printf "%s %s\n" "$$" "$1" >"$2" && exec sleep infinity' hold "$1" "$latency_holder" </dev/null >/dev/null 2>&1 &
    sleep 1
}

# Networks whose packets are not tracked as connections, or 'none'; they stand in a table of our own.
read_bypass() {
    found=$(nft list table inet wulf 2>/dev/null |
        sed -n '/chain prerouting/,/}/s/.*saddr \([^ ]*\) .*notrack.*/\1/p' | tr '\n' ' ')
    words "${found:-none}"
}

# Another table that accepts 'established' and drops the rest would drop what is untracked: that is refused.
write_bypass() {
    {
        echo 'add table inet wulf'
        echo 'delete table inet wulf'
        [ "$1" = none ] || bypass_table "$1"
    } >"$bypass_script" || return 1
    if [ "$1" != none ] && others=$(nft list ruleset) && case $others in
        *untracked*) false ;;
        *established*) case $others in *drop* | *reject*) true ;; *) false ;; esac ;;
        *) false ;;
        esac; then
        echo "a rule accepts established connections alone: let it accept 'ct state untracked' first" >&2
        return 1
    fi
    nft -f "$bypass_script"
}

bypass_script=/run/wulf-bypass.nft

bypass_table() {
    echo 'table inet wulf {'
    for chain in prerouting:raw:notrack output:raw:notrack 'input:filter:ct state untracked accept'; do
        rest=${chain#*:}
        echo "    chain ${chain%%:*} {"
        echo "        type filter hook ${chain%%:*} priority ${rest%%:*}; policy accept;"
        for network in $1; do
            case $network in *:*) ip=ip6 ;; *) ip=ip ;; esac
            echo "        $ip saddr $network $ip daddr $network ${rest#*:}"
        done
        echo '    }'
    done
    echo '}'
}

# apply, revert and status, over all that `settings` lists. Nothing is written unless every value is one of the two that
# are known: what it was before, or what it is to be. Whoever set something else is not overwritten.

# TITLE BEFORE AFTER KIND ARGUMENT...
look() {
    title=$1 before=$2 after=$3 kind=$4
    shift 4
    now=$("read_$kind" "$@" 2>/dev/null) && [ -n "$now" ] || now=unreadable
}

known() {
    look "$@"
    [ "$now" = "$before" ] || [ "$now" = "$after" ] && return 0
    printf '%s: is %s, neither %s nor %s\n' "$title" "$now" "$before" "$after" >&2
    unknown=$((unknown + 1))
}

show() {
    look "$@"
    if [ "$now" = "$after" ]; then
        state=applied
    elif [ "$now" = "$before" ]; then
        state='as before'
    else
        state=neither
    fi
    [ "$state" = applied ] || missing=$((missing + 1))
    printf '%-10s %s: %s\n' "$state" "$title" "$now"
}

# Sets one to $1, and reads it back.
make() {
    wanted=$1
    shift
    look "$@"
    [ "$now" = "$wanted" ] && return 0
    was=$now
    shift 4
    "write_$kind" "$@" "$wanted" >&2 && now=$("read_$kind" "$@" 2>/dev/null) && [ "$now" = "$wanted" ] && {
        printf '%s: %s, was %s\n' "$title" "$wanted" "$was"
        return 0
    }
    printf '%s: asked for %s, is %s\n' "$title" "$wanted" "${now:-unreadable}" >&2
    return 1
}

# What this call changes, or tried to, is noted by its number: that alone is undone where a later one fails.
forth() {
    [ "$failed" -eq 0 ] || return 0
    index=$((index + 1))
    was=
    make "$3" "$@" || failed=1
    [ -z "$was" ] || changed="$changed$index "
}

# The last is undone first: each call handles the one setting whose turn it is.
back() {
    index=$((index + 1))
    [ "$index" -eq "$turn" ] || return 0
    case $changed in
    all | *" $turn "*) make "$2" "$@" || failed=1 ;;
    esac
}

undo() {
    turn=$(count)
    while [ "$turn" -gt 0 ]; do
        index=0
        settings back
        turn=$((turn - 1))
    done
}

refuse_unknown() {
    unknown=0
    settings known
    [ "$unknown" -eq 0 ] && return 0
    echo "nothing was changed: $unknown set by somebody else, or not readable (are you root?)" >&2
    exit 1
}

count() {
    index=0
    one() { index=$((index + 1)); }
    settings one
    echo "$index"
}

case ${1:-} in
apply)
    refuse_unknown
    failed=0 index=0 changed=' '
    settings forth
    [ "$failed" -eq 0 ] && exit 0
    echo 'undoing what was applied' >&2
    failed=0
    undo
    [ "$failed" -eq 0 ] || echo 'not all of it could be undone: see status' >&2
    exit 1
    ;;
revert)
    refuse_unknown
    failed=0 changed=all
    undo
    exit "$failed"
    ;;
status)
    missing=0
    settings show
    [ "$missing" -eq 0 ]
    ;;
*)
    echo "usage: $0 apply|revert|status" >&2
    exit 2
    ;;
esac
