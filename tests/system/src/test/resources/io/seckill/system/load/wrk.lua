-- wrk.lua: send ready-made requests of equal length from a file, then from its beginning again.
-- arguments  1 file  2 bytes of one request    for one thread only: each would start at the first

local file, length
local thread
rounds = 0 -- global, so that done() can ask for it

function setup(only)
  thread = only
end

function init(arguments)
  file = assert(io.open(arguments[1], 'rb'))
  length = tonumber(arguments[2])
end

function request()
  local bytes = file:read(length)
  if not bytes then
    rounds = rounds + 1
    file:seek('set', 0)
    bytes = file:read(length)
  end
  return bytes
end

function done()
  print('Rounds: ' .. thread:get('rounds'))
end
