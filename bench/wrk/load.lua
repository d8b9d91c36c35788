-- Each request has a new uid, name, image, port and hash. The environment has the template of the
-- body, the path, the number of the first request, and the headers.
local file = assert(io.open(os.getenv("BODY_FILE"), "r"))
local pieces, ports = {}, 50000
local text = file:read("*a")
file:close()
local index = tonumber(os.getenv("FIRST"))
local path = os.getenv("REQUEST_PATH")
local headers = { ["Content-Type"] = "application/json", ["x-answer-bytes"] = os.getenv("ANSWER_BYTES") }

-- Splitting the template once is cheaper than to search it for each request.
local from = 1
for before, mark, after in text:gmatch("()(@[NHP]@)()") do
  pieces[#pieces + 1] = text:sub(from, before - 1)
  pieces[#pieces + 1] = mark
  from = after
end
pieces[#pieces + 1] = text:sub(from)

function request()
  index = index + 1
  local marks = {
    ["@N@"] = string.format("%012d", index),
    ["@H@"] = string.format("%010d", index),
    ["@P@"] = tostring(10000 + index % ports),
  }
  local body = {}
  for at, piece in ipairs(pieces) do body[at] = marks[piece] or piece end
  return wrk.format("POST", path, headers, table.concat(body))
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('\n{"requests": %d, "failed": %d, "p50": %f, "p99": %f}\n',
    summary.requests, failed, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
