-- append.lua: for LuaScriptIT. Pushes ARGV[1] to the list KEYS[1] and returns its new length.
return redis.call('RPUSH', KEYS[1], ARGV[1])
