-- Bucket of a user in a SKU's hashes: user mod buckets, for users up to 2^63-1. A Lua number holds 53 bits, so a
-- longer id is divided in two parts.
local function bucketOf(user, buckets)
  if #user <= 15 then
    return tonumber(user) % buckets
  end
  local high, low = tonumber(string.sub(user, 1, -10)), tonumber(string.sub(user, -9))
  return ((high % buckets) * (1000000000 % buckets) + low) % buckets
end
