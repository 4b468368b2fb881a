#!/bin/sh
# A process whose file would grow beyond its limit is killed, unless it passes the signal over: then the write fails, as
# it does on a full disk. Node passes it over by itself.
trap '' XFSZ
exec "$CHAOS_WORKERD" "$@"
