-- Asks for files by random numbers, over connections that stay; prints what came as JSON.
local prefix = os.getenv("LOAD_PREFIX")
local suffix = os.getenv("LOAD_SUFFIX")
local count = tonumber(os.getenv("LOAD_COUNT"))
local headers = {}
if os.getenv("LOAD_AUTHORIZATION") then
  headers["Authorization"] = os.getenv("LOAD_AUTHORIZATION")
end

function init(args)
  math.randomseed(tonumber(os.getenv("LOAD_SEED")))
end

function request()
  local path = string.format("%s%06d%s", prefix, math.random(0, count - 1), suffix)
  return wrk.format("GET", path, headers)
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"bytes":%d,"microseconds":%d,"failed":%d}\n',
    summary.requests, summary.bytes, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
