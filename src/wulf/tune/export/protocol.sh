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
