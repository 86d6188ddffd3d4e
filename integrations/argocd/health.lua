-- The health of a JobSet (jobset.x-k8s.io/v1alpha2, as JobSet v0.12 writes its status) for Argo CD.
-- It goes into argocd-cm, as argocd-cm.yaml beside it shows. Lua 5.1 with `table` alone: Argo CD opens no other library
-- (no `string`) unless it is told to.

local spec, status = obj.spec or {}, obj.status or {}

local function condition(type)
  for _, found in ipairs(status.conditions or {}) do
    if found.type == type and found.status == "True" then
      return found
    end
  end
end

local function told_by(found, otherwise)
  if found and found.message and found.message ~= "" then
    return found.message
  end
  return otherwise
end

-- The restarts of all Jobs together, and of single ones.
local function total(field, of_single_jobs)
  local sum = status[field] or 0
  for _, job in ipairs(status.replicatedJobsStatus or {}) do
    for _, count in ipairs(job[of_single_jobs] or {}) do
      sum = sum + count
    end
  end
  return sum
end

-- ", 2 restarts (1 of 3 that count)", where there were any.
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

-- "launcher 0/1 ready, node 1/2 ready": a Job that has succeeded needs no pods any more.
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
  return {status = "Degraded", message = told_by(failed, "jobset failed") .. restarts()}
end

local completed = condition("Completed")
if completed or status.terminalState == "Completed" then
  return {status = "Healthy", message = told_by(completed, "jobset completed successfully") .. restarts()}
end

-- The condition comes after the field, in both directions.
if spec.suspend then
  return {status = "Suspended", message = "spec.suspend is true: the pods wait for Kueue or for somebody to resume it"}
end

if not status.replicatedJobsStatus then
  return {status = "Progressing", message = "waiting for the controller of JobSets"}
end

local restarting = condition("RestartingJobSet")
if restarting then
  return {status = "Progressing", message = told_by(restarting, "restarting") .. restarts()}
end
return {status = "Progressing", message = progress() .. restarts()}
