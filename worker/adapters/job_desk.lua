-- What the job desk does to its records, one operation per call, each whole or not at all.
--
-- KEYS[1] is the prefix of all keys; they are made here, so this wants one Redis and not a cluster.
-- ARGV[1] names the operation, the rest is said beside each one. Times are milliseconds. `now` comes from the caller,
-- except where the silence of a worker is measured: there only one clock may count, and that is the server's.
--
--   job:ID           hash, the record
--   waiting:SUBJECT  the job that further requests for this subject become part of
--   running:SUBJECT  the job that a worker has
--   due:0 1 2        by priority: id -> when to send it to a queue; not in here while it waits behind a running job
--   sent             id -> when it was sent to a queue (server time)
--   running          id -> when its worker was last heard (server time)
--   queued           id -> when it was first asked for: everything that has not begun
--   done             id -> when it ended; the history, bounded
--   seen:SUBMISSION  the job that a submission became
--   of:REFERENCE     list, newest first: the jobs of a session
--   last             hash: when something last ended, and last ended well

local prefix = KEYS[1]
local LOWEST = 2
local CLOCK_SLACK = 60000 -- machines' clocks may differ by that much

local function key(...)
  return prefix .. table.concat({ ... }, ":")
end

local function record(id)
  return key("job", id)
end

local function get(id, field)
  return redis.call("HGET", record(id), field)
end

local function number(id, field)
  return tonumber(get(id, field) or "0") or 0
end

local function put(id, ...)
  redis.call("HSET", record(id), ...)
end

-- Lua would write large numbers as 1.7e+12.
local function whole(value)
  return string.format("%.0f", value)
end

local function server_now()
  local time = redis.call("TIME")
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function exists(id)
  return id and redis.call("EXISTS", record(id)) == 1
end

local function leave_queues(id)
  for rank = 0, LOWEST do
    redis.call("ZREM", key("due", rank), id)
  end
  redis.call("ZREM", key("sent"), id)
end

-- `wait` is kept beside the time, so that a clock that was set back can be noticed.
local function make_due(id, due, now)
  leave_queues(id)
  redis.call("ZADD", key("due", get(id, "rank")), whole(due), id)
  put(id, "due_at", whole(due), "wait", whole(due - now))
end

local function drop_pointer(name, id)
  local pointer = key(name, get(id, "subject"))
  if redis.call("GET", pointer) == id then
    redis.call("DEL", pointer)
  end
end

local function is_running_elsewhere(id)
  local other = redis.call("GET", key("running", get(id, "subject")))
  return other and other ~= id and exists(other)
end

local function trim_history(now, keep, life)
  local old = redis.call("ZRANGEBYSCORE", key("done"), "-inf", whole(now - life), "LIMIT", 0, 100)
  local surplus = redis.call("ZCARD", key("done")) - keep
  if surplus > 0 then
    for _, id in ipairs(redis.call("ZRANGE", key("done"), 0, math.min(surplus, 100) - 1)) do
      old[#old + 1] = id
    end
  end
  for _, id in ipairs(old) do
    redis.call("ZREM", key("done"), id)
    redis.call("DEL", record(id))
  end
end

local function close(id, now, outcome, ending, keep, life)
  leave_queues(id)
  drop_pointer("waiting", id)
  drop_pointer("running", id)
  redis.call("ZREM", key("running"), id)
  redis.call("ZREM", key("queued"), id)
  put(id, "state", "done", "outcome", outcome, "ending", ending, "finished_at", whole(now))
  redis.call("HDEL", record(id), "due_at", "behind")
  redis.call("PEXPIRE", record(id), life)
  redis.call("ZADD", key("done"), whole(now), id)
  trim_history(now, keep, life)
end

-- What waited behind a job goes to a queue, and not before it was due anyway.
local function release_follow_up(subject, now)
  local id = redis.call("GET", key("waiting", subject))
  if exists(id) and get(id, "behind") then
    redis.call("HDEL", record(id), "behind")
    make_due(id, math.max(now, number(id, "due_at")), now)
  end
end

-- A time in the future was written before the clock was set back: whatever comes now is newer.
local function is_newer(at, known, now)
  return at >= known or known > now + CLOCK_SLACK
end

-- The newest facts win, whatever order they come in; the strongest wish stays.
local function take_facts(id, now, at, request, rank, manual, seal_all, instructions)
  if is_newer(at, number(id, "facts_at"), now) then
    put(id, "facts_at", whole(at), "request", request)
  end
  if instructions ~= "" and is_newer(at, number(id, "instructions_at"), now) then
    put(id, "instructions", instructions, "instructions_at", whole(at))
  end
  if manual == "1" then put(id, "manual", "1") end
  if seal_all == "1" then put(id, "seal_all", "1") end
  if rank < number(id, "rank") then put(id, "rank", rank) end
end

-- A request without delay makes the job due now. Others move it back, at most to `longest` behind the first of them;
-- none moves it before the end of a back-off. `farthest` is for a clock that was set back since the first.
local function new_due(id, now, debounce, longest)
  if debounce <= 0 then
    put(id, "prompt", "1")
    return now
  end
  local due = number(id, "due_at")
  if get(id, "prompt") then
    return due
  end
  if number(id, "first_at") > now + CLOCK_SLACK then
    put(id, "first_at", whole(now))
  end
  local latest = math.max(number(id, "first_at") + longest, number(id, "not_before"))
  local farthest = now + math.max(longest, number(id, "wait"))
  return math.min(math.max(due, now + debounce), latest, farthest)
end

local function coalesce(id, now, debounce, longest, rank)
  redis.call("HINCRBY", record(id), "coalesced", 1)
  if redis.call("ZSCORE", key("sent"), id) then
    -- On its way already, and it reads the newest state when it begins. Only a higher queue is worth sending it again.
    if rank < number(id, "sent_rank") then
      make_due(id, now, now)
    end
    return
  end
  local due = new_due(id, now, debounce, longest)
  if get(id, "behind") then
    put(id, "due_at", whole(due))
  else
    make_due(id, due, now)
  end
end

local function list_under(id, life, references)
  for _, reference in ipairs(references) do
    local list = key("of", reference)
    redis.call("LREM", list, 0, id)
    redis.call("LPUSH", list, id)
    redis.call("LTRIM", list, 0, 49)
    redis.call("PEXPIRE", list, life)
  end
end

local operations = {}

-- submission subject now debounce longest rank manual seal_all at instructions request kind seen_life [reference …]
function operations.submit(a)
  local submission, subject, now = a[1], a[2], tonumber(a[3])
  local debounce, longest, rank = tonumber(a[4]), tonumber(a[5]), tonumber(a[6])
  local manual, seal_all, at, instructions, request = a[7], a[8], tonumber(a[9]), a[10], a[11]
  local seen = redis.call("GET", key("seen", submission))
  if seen then
    return seen
  end
  local id = redis.call("GET", key("waiting", subject))
  if exists(id) then
    take_facts(id, now, at, request, rank, manual, seal_all, instructions)
    coalesce(id, now, debounce, longest, rank)
  else
    id = submission
    put(id, "subject", subject, "kind", a[12], "state", "queued", "stage", "queued", "rank", rank, "asked_at", whole(now))
    put(id, "first_at", whole(now), "due_at", whole(now + math.max(debounce, 0)), "coalesced", 1)
    take_facts(id, now, at, request, rank, manual, seal_all, instructions)
    if debounce <= 0 then put(id, "prompt", "1") end
    redis.call("SET", key("waiting", subject), id)
    redis.call("ZADD", key("queued"), whole(now), id)
    if is_running_elsewhere(id) then
      put(id, "behind", "1")
    else
      make_due(id, number(id, "due_at"), now)
    end
  end
  redis.call("SET", key("seen", submission), id, "PX", a[13])
  list_under(id, a[13], { unpack(a, 14) })
  return id
end

-- id life reference … : further names under which the job is found
function operations.name(a)
  if exists(a[1]) then list_under(a[1], a[2], { unpack(a, 3) }) end
end

-- now limit -> id kind rank, id kind rank, …: the highest priority first, in each what is longest due
function operations.claim_due(a)
  local now, limit, claimed = tonumber(a[1]), tonumber(a[2]), {}
  for rank = 0, LOWEST do
    local due = key("due", rank)
    -- Further ahead than it was told to wait: the clock was set back in between.
    for _, id in ipairs(redis.call("ZREVRANGEBYSCORE", due, "+inf", "(" .. whole(now), "LIMIT", 0, 100)) do
      if tonumber(redis.call("ZSCORE", due, id)) - now > number(id, "wait") + CLOCK_SLACK then
        make_due(id, now, now)
      end
    end
    local room = limit - #claimed / 3
    local ids = room > 0 and redis.call("ZRANGEBYSCORE", due, "-inf", whole(now), "LIMIT", 0, room) or {}
    for _, id in ipairs(ids) do
      redis.call("ZREM", due, id)
      if exists(id) then
        redis.call("ZADD", key("sent"), whole(server_now()), id)
        put(id, "sent_rank", rank)
        claimed[#claimed + 1] = id
        claimed[#claimed + 1] = get(id, "kind")
        claimed[#claimed + 1] = tostring(rank)
      end
    end
  end
  return claimed
end

-- id owner now silent -> "begun", or why not: "unknown" "ended" "busy" "not_sent"
function operations.begin(a)
  local id, owner, now, silent = a[1], a[2], tonumber(a[3]), tonumber(a[4])
  local state = get(id, "state")
  if not state then return "unknown" end
  if state == "done" then return "ended" end
  if state == "running" then
    local heard = tonumber(redis.call("ZSCORE", key("running"), id) or "0")
    if get(id, "owner") ~= owner and server_now() - heard < silent then return "busy" end
  elseif is_running_elsewhere(id) then
    return "busy"
  elseif not redis.call("ZSCORE", key("sent"), id) then
    return "not_sent"
  end
  drop_pointer("waiting", id)
  leave_queues(id)
  redis.call("ZREM", key("queued"), id)
  redis.call("SET", key("running", get(id, "subject")), id)
  redis.call("ZADD", key("running"), whole(server_now()), id)
  redis.call("HINCRBY", record(id), "attempts", 1)
  put(id, "state", "running", "stage", "reading", "owner", owner, "started_at", whole(now), "heartbeat_at", whole(now))
  redis.call("HDEL", record(id), "part_done", "parts", "tokens", "due_at", "not_before", "prompt")
  return "begun"
end

-- id owner now [field value …] -> "go_on" "stop" "lost"
function operations.report(a)
  local id, owner = a[1], a[2]
  if get(id, "state") ~= "running" or get(id, "owner") ~= owner then return "lost" end
  redis.call("ZADD", key("running"), whole(server_now()), id)
  put(id, "heartbeat_at", a[3])
  for place = 4, #a, 2 do
    put(id, a[place], a[place + 1])
  end
  return get(id, "cancel_reason") and "stop" or "go_on"
end

-- id owner now outcome is_success ending error keep life -> 1, or 0 when it is not this owner's any more
function operations.finish(a)
  local id, owner, now = a[1], a[2], tonumber(a[3])
  if get(id, "state") ~= "running" or get(id, "owner") ~= owner then return 0 end
  if a[7] ~= "" then put(id, "error", a[7]) end
  local subject = get(id, "subject")
  close(id, now, a[4], a[6], tonumber(a[8]), tonumber(a[9]))
  redis.call("HSET", key("last"), "finished_at", whole(now))
  if a[5] == "1" then redis.call("HSET", key("last"), "success_at", whole(now)) end
  release_follow_up(subject, now)
  return 1
end

-- What was asked for while a job ran becomes part of it when it has to run again; the other's record names it.
local function join(other, id, now, ending, keep, life)
  local rank, manual, seal_all = number(other, "rank"), get(other, "manual") or "", get(other, "seal_all") or ""
  take_facts(id, now, number(other, "facts_at"), get(other, "request"), rank, manual, seal_all, "")
  if get(other, "instructions") then
    put(id, "instructions", get(other, "instructions"), "instructions_at", get(other, "instructions_at"))
  end
  redis.call("HINCRBY", record(id), "coalesced", number(other, "coalesced"))
  if get(other, "prompt") then put(id, "prompt", "1") end
  put(other, "joined", id)
  close(other, now, "superseded", ending, keep, life)
end

-- Back to the queue. A request without delay that came meanwhile does not wait for the end of the back-off.
local function requeue(id, now, due, ending, keep, life)
  local waiting = key("waiting", get(id, "subject"))
  local other = redis.call("GET", waiting)
  redis.call("ZREM", key("running"), id)
  drop_pointer("running", id)
  if exists(other) and other ~= id then
    join(other, id, now, ending, keep, life)
  end
  if get(id, "prompt") then due = now end
  put(id, "state", "queued", "stage", "queued", "first_at", whole(now), "not_before", whole(due))
  redis.call("HDEL", record(id), "owner", "behind")
  redis.call("SET", waiting, id)
  redis.call("ZADD", key("queued"), get(id, "asked_at"), id)
  make_due(id, due, now)
end

-- id owner now due error cancelled_ending joined_ending keep life -> 1, or 0 when it is not this owner's any more
function operations.retry(a)
  local id, owner, now, keep, life = a[1], a[2], tonumber(a[3]), tonumber(a[8]), tonumber(a[9])
  if get(id, "state") ~= "running" or get(id, "owner") ~= owner then return 0 end
  put(id, "error", a[5])
  if get(id, "cancel_reason") then
    local subject = get(id, "subject")
    close(id, now, "cancelled", a[6], keep, life)
    release_follow_up(subject, now)
  else
    requeue(id, now, tonumber(a[4]), a[7], keep, life)
  end
  return 1
end

-- id now reason ending keep life -> "cancelled" "stopping" "ended" "unknown"
function operations.cancel(a)
  local id = exists(a[1]) and a[1] or redis.call("GET", key("seen", a[1]))
  local state = id and get(id, "state")
  if not state then return "unknown" end
  if state == "done" then return "ended" end
  if state == "running" then
    put(id, "cancel_reason", a[3])
    return "stopping"
  end
  close(id, tonumber(a[2]), "cancelled", a[4], tonumber(a[5]), tonumber(a[6]))
  return "cancelled"
end

-- silent unsent -> running ids whose worker was not heard for so long, then sent ids that nobody began for so long
function operations.stuck(a)
  local clock = server_now()
  for _, name in ipairs({ "running", "sent" }) do
    -- Later than now means that the server's clock was set back. A worker that lives is heard again at once.
    for _, id in ipairs(redis.call("ZRANGEBYSCORE", key(name), "(" .. whole(clock), "+inf")) do
      redis.call("ZADD", key(name), whole(clock), id)
    end
  end
  local found = redis.call("ZRANGEBYSCORE", key("running"), "-inf", whole(clock - tonumber(a[1])))
  for _, id in ipairs(redis.call("ZRANGEBYSCORE", key("sent"), "-inf", whole(clock - tonumber(a[2])))) do
    found[#found + 1] = id
  end
  return found
end

-- now silent unsent most_attempts lost_ending cancelled_ending joined_ending keep life -> id what, id what, …
function operations.rescue(a)
  local now, keep, life, done = tonumber(a[1]), tonumber(a[8]), tonumber(a[9]), {}
  for _, id in ipairs(operations.stuck({ a[2], a[3] })) do
    local subject, what = get(id, "subject"), "requeued"
    if not subject then
      redis.call("ZREM", key("running"), id)
      leave_queues(id)
      what = "forgotten"
    elseif get(id, "state") == "queued" then
      make_due(id, now, now)
    elseif get(id, "cancel_reason") then
      close(id, now, "cancelled", a[6], keep, life)
      what = "cancelled"
    elseif number(id, "attempts") >= tonumber(a[4]) then
      close(id, now, "failed", a[5], keep, life)
      what = "failed"
    else
      requeue(id, now, now, a[7], keep, life)
    end
    if subject then release_follow_up(subject, now) end
    done[#done + 1] = id
    done[#done + 1] = what
  end
  return done
end

-- id or submission … -> for each that is known: id and the record, flat
function operations.records(a)
  local found = {}
  for _, name in ipairs(a) do
    local id = exists(name) and name or redis.call("GET", key("seen", name))
    if exists(id) then found[#found + 1] = { id, redis.call("HGETALL", record(id)) } end
  end
  return found
end

-- now -> waiting sent running, then times or "": oldest asked for, longest due, last success, last end
function operations.health(a)
  local now, due = tonumber(a[1]), nil
  local asked = redis.call("ZRANGE", key("queued"), 0, 0, "WITHSCORES")[2] or ""
  for _, name in ipairs({ "due:0", "due:1", "due:2", "sent" }) do
    local first = tonumber(redis.call("ZRANGE", key(name), 0, 0, "WITHSCORES")[2])
    if first and first <= now and (not due or first < due) then due = first end
  end
  local last = redis.call("HMGET", key("last"), "success_at", "finished_at")
  local counts = { redis.call("ZCARD", key("queued")), redis.call("ZCARD", key("sent")), redis.call("ZCARD", key("running")) }
  return { counts[1], counts[2], counts[3], asked, due and whole(due) or "", last[1] or "", last[2] or "" }
end

return operations[ARGV[1]]({ unpack(ARGV, 2) })
