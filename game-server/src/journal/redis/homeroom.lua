#!lua name=homeroom_@

-- The steps of a game in Redis. Each function runs as a whole or not at all; none writes before it has checked everything.
-- In the names, the sign in the line above stands for a tag made from this text: see library.rs.
--
-- Every function gets the one key o:{code}. The other keys have the same hash tag and are made from it, which saves bytes.
--   o:{code}  hash: g game id, k create key, p server's name, i its incarnation, e epoch, c claim, n last record number,
--             r run of the store under which the owner was written
--   s:{code}  hash: f facts, b snapshot, t last record number in the snapshot
--   j:{code}  string: frames of the records after it
-- Answers begin with a word. No word is one of the publish-subscribe protocol, which the client library would swallow.

-- 50,000 answers: a room of 500 over 100 questions without a snapshot between them.
local JOURNAL_BYTES_MAX = 1048576
-- 16 zero bytes; while a library is loaded there is no string.rep.
local NOBODY = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

local function sibling(key, letter)
  return letter .. string.sub(key, 2)
end

local function owner(key)
  local f = redis.call('HMGET', key, 'g', 'k', 'p', 'i', 'e', 'c', 'n', 'r')
  if not f[1] then
    return nil
  end
  return { create_key = f[2], epoch = tonumber(f[5]), claim = f[6], last = tonumber(f[7]), run = f[8], fields = f }
end

local function answer(word, o)
  local f = o.fields
  return { word, f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8] }
end

-- The answer to a write by somebody who does not own the game; nil when he does.
local function refusal(o, claim)
  if not o then
    return { 'missing' }
  end
  if o.claim ~= claim or claim == NOBODY then
    return { 'fenced' }
  end
  return nil
end

-- args as those of create
local function bear(key, args, epoch)
  local s = sibling(key, 's')
  redis.call('DEL', key, s, sibling(key, 'j'))
  redis.call('HSET', key, 'g', args[1], 'k', args[2], 'p', args[3], 'i', args[4], 'e', epoch, 'c', args[6],
    'n', args[7], 'r', args[8])
  redis.call('HSET', s, 'f', args[9], 'b', args[10], 't', args[7])
end

-- args: game, create key, server's name, incarnation, epoch, claim, through, run, facts, snapshot
local function create(keys, args)
  local key = keys[1]
  local o = owner(key)
  if o then
    return answer(o.create_key == args[2] and 'same' or 'taken', o)
  end
  bear(key, args, args[5])
  return { 'new' }
end

-- args as those of create. The owner lives: it is believed, unless the store's present run has another claim.
local function assert_owner(keys, args)
  local key = keys[1]
  local o = owner(key)
  local epoch = tonumber(args[5])
  if o then
    local present = o.run == args[8]
    if present and o.claim ~= args[6] then
      return { 'fenced' }
    end
    -- What was on its way for long may come after what its sender did next.
    if present and tonumber(args[7]) < o.last then
      return { 'refused', o.last }
    end
    epoch = math.max(epoch, present and o.epoch or o.epoch + 1)
  end
  bear(key, args, epoch)
  return answer('yes', owner(key))
end

-- args: claim seen, new claim, server's name, incarnation, run, least epoch
local function claim(keys, args)
  local key = keys[1]
  local o = owner(key)
  if not o then
    return { 'missing' }
  end
  if o.claim ~= args[2] then
    if o.claim ~= args[1] then
      return answer('beaten', o)
    end
    redis.call('HSET', key, 'e', math.max(o.epoch + 1, tonumber(args[6])), 'c', args[2], 'p', args[3], 'i', args[4], 'r', args[5])
    o = owner(key)
  end
  return answer('yes', o)
end

-- args: the claim (16 bytes) and the frames after it, in one string. A frame: length (2), number (4), record, checksum (4).
local function append(keys, args)
  local key, sent = keys[1], args[1]
  local f = redis.call('HMGET', key, 'c', 'n')
  local o = f[1] and { claim = f[1], last = tonumber(f[2]) }
  local refused = refusal(o, string.sub(sent, 1, 16))
  if refused then
    return refused
  end
  local at, from, last = 17, nil, o.last
  while at <= #sent do
    local len, number = struct.unpack('<I2I4', sent, at)
    if number > last then
      if number ~= last + 1 then
        return { 'refused', o.last }
      end
      from = from or at
      last = number
    end
    at = at + 10 + len
  end
  if not from then
    return { 'saved' }
  end
  local j = sibling(key, 'j')
  local added = #sent - from + 1
  local kept = redis.call('STRLEN', j)
  if kept == 0 then
    -- Behind a snapshot there is nothing; otherwise somebody took the journal away, and only its owner has all of it.
    local through = tonumber(redis.call('HGET', sibling(key, 's'), 't') or 0)
    if through ~= o.last then
      return { 'refused', through }
    end
  end
  if kept + added > JOURNAL_BYTES_MAX then
    return { 'full' }
  end
  if redis.call('APPEND', j, string.sub(sent, from)) == added then
    -- A new key; when the game is on its way out, so is its journal.
    local left_ms = redis.call('PTTL', key)
    if left_ms >= 0 then
      redis.call('PEXPIRE', j, left_ms)
    end
  end
  redis.call('HSET', key, 'n', last)
  return { 'saved' }
end

-- args: claim, through, snapshot
local function snapshot(keys, args)
  local key = keys[1]
  local o = owner(key)
  local refused = refusal(o, args[1])
  if refused then
    return refused
  end
  if tonumber(args[2]) < o.last then
    return { 'refused', o.last }
  end
  local s, j = sibling(key, 's'), sibling(key, 'j')
  if redis.call('HEXISTS', s, 'f') == 0 then
    -- Somebody took the facts away. Without them nobody could read the game; its owner, who has them, writes all of it again.
    redis.call('DEL', key, s, j)
    return { 'missing' }
  end
  redis.call('HSET', s, 'b', args[3], 't', args[2])
  redis.call('HSET', key, 'n', args[2])
  redis.call('DEL', j)
  return { 'saved' }
end

local function tail(keys)
  local o = owner(keys[1])
  return o and answer('found', o) or { 'missing' }
end

local function load(keys)
  local key = keys[1]
  local o = owner(key)
  if not o then
    return { 'missing' }
  end
  local found = answer('found', o)
  local s = redis.call('HMGET', sibling(key, 's'), 'f', 'b', 't')
  local j = redis.call('GET', sibling(key, 'j'))
  found[#found + 1] = s[1]
  found[#found + 1] = s[2]
  found[#found + 1] = s[3]
  found[#found + 1] = j or ''
  return found
end

-- args: claim
local function release(keys, args)
  local key = keys[1]
  local refused = refusal(owner(key), args[1])
  if refused then
    return refused
  end
  redis.call('HSET', key, 'p', '', 'i', NOBODY, 'c', NOBODY)
  return { 'saved' }
end

-- args: claim, milliseconds until the game is forgotten
local function remove(keys, args)
  local key = keys[1]
  local refused = refusal(owner(key), args[1])
  if refused then
    return refused
  end
  for _, each in ipairs({ sibling(key, 's'), sibling(key, 'j'), key }) do
    -- An expiry of 0 deletes at once.
    redis.call('PEXPIRE', each, args[2])
  end
  return { 'saved' }
end

redis.register_function('h@c', create)
redis.register_function('h@o', claim)
redis.register_function('h@w', assert_owner)
redis.register_function('h@a', append)
redis.register_function('h@s', snapshot)
-- Also without memory left: these give some back, or write a few bytes.
redis.register_function { function_name = 'h@r', callback = release, flags = { 'allow-oom' } }
redis.register_function { function_name = 'h@d', callback = remove, flags = { 'allow-oom' } }
redis.register_function { function_name = 'h@t', callback = tail, flags = { 'no-writes' } }
redis.register_function { function_name = 'h@l', callback = load, flags = { 'no-writes' } }
