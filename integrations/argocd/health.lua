-- The Argo CD health check for a JobSet (jobset.x-k8s.io/v1alpha2, with the status of JobSet v0.12).
-- argocd-cm.yaml in this folder installs it. It uses only Lua 5.1 and `table`, because Argo CD by default opens no other
-- library, not even `string`.

local spec, status = obj.spec or {}, obj.status or {}

local function condition(type)
  for _, found in ipairs(status.conditions or {}) do
    if found.type == type and found.status == "True" then
      return found
    end
  end
end

local function message_of(found, otherwise)
  if found and found.message and found.message ~= "" then
    return found.message
  end
  return otherwise
end

-- The number of restarts, of the whole JobSet and of single Jobs.
local function total(field, of_single_jobs)
  local sum = status[field] or 0
  for _, job in ipairs(status.replicatedJobsStatus or {}) do
    for _, count in ipairs(job[of_single_jobs] or {}) do
      sum = sum + count
    end
  end
  return sum
end

-- ", 2 restarts (1 of 3 that count)", or nothing without restarts.
local function restarts()
  local count = total("restarts", "jobRestarts")
  if count == 0 then
    return ""
  end
  local text = ", " .. count .. (count == 1 and " restart" or " restarts")
  local allowed = (spec.failurePolicy or {}).maxRestarts
  if allowed then
    local counted = total("restartsCountTowardsMax", "jobRestartsCountTowardsMax")
    text = text .. " (" .. counted .. " of " .. allowed .. " that count)"
  end
  return text
end

-- "launcher 0/1 ready, node 1/2 ready". Succeeded Jobs count as ready.
local function progress()
  local states = {}
  for _, found in ipairs(status.replicatedJobsStatus or {}) do
    states[found.name] = found
  end
  local parts = {}
  for _, job in ipairs(spec.replicatedJobs or {}) do
    local state, replicas = states[job.name] or {}, job.replicas or 1
    local succeeded = state.succeeded or 0
    local text = job.name .. " " .. ((state.ready or 0) + succeeded) .. "/" .. replicas .. " ready"
    if succeeded == replicas then
      text = job.name .. " succeeded"
    end
    if (state.failed or 0) > 0 then
      text = text .. " and " .. state.failed .. " failed"
    end
    table.insert(parts, text)
  end
  return table.concat(parts, ", ")
end

local failed = condition("Failed")
if failed or status.terminalState == "Failed" then
  return {status = "Degraded", message = message_of(failed, "jobset failed") .. restarts()}
end

local completed = condition("Completed")
if completed or status.terminalState == "Completed" then
  return {status = "Healthy", message = message_of(completed, "jobset completed successfully") .. restarts()}
end

-- The controller updates the condition only after the field changes, so check the field.
if spec.suspend then
  return {status = "Suspended", message = "spec.suspend is true: the JobSet waits for Kueue or a user to resume it"}
end

if not status.replicatedJobsStatus then
  return {status = "Progressing", message = "waiting for the JobSet controller"}
end

local restarting = condition("RestartingJobSet")
if restarting then
  return {status = "Progressing", message = message_of(restarting, "restarting") .. restarts()}
end
return {status = "Progressing", message = progress() .. restarts()}
