-- Posts notes of ids of their own, from every thread and connection.
local thread = 0
function setup(t) t:set("number", thread); thread = thread + 1 end
function init() next_id = number * 100000000 + 1 end
function request()
  next_id = next_id + 1
  return wrk.format("POST", "/notes", { ["Content-Type"] = "application/json" },
    string.format('{"id": %d, "text": "a note of some thirty characters"}', next_id))
end
