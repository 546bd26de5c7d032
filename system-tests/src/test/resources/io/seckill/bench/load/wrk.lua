-- wrk.lua: send ready-made requests of equal length from a file, then from its beginning again.
-- arguments  1 file  2 bytes of one request    for one thread only: each would start at the first

local file, length

function init(arguments)
  file = assert(io.open(arguments[1], 'rb'))
  length = tonumber(arguments[2])
end

function request()
  local bytes = file:read(length)
  if not bytes then
    file:seek('set', 0)
    bytes = file:read(length)
  end
  return bytes
end
