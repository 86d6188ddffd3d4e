-- Drives an editor headless: opens a job with a mistake, waits for its diagnostic, applies the preferred action, saves.
local file, python, report = unpack(vim.split(vim.env.ARGUMENTS, "\n"))
local function written(text)
  local out = assert(io.open(report, "w"))
  out:write(text)
  out:close()
end
local function run()
  vim.cmd("edit " .. vim.fn.fnameescape(file))
  local client = assert(vim.lsp.start_client({
    name = "trainc",
    cmd = { python, "-m", "trainc", "lsp" },
    root_dir = vim.fn.fnamemodify(file, ":h"),
  }))
  vim.lsp.buf_attach_client(0, client)
  assert(vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50), "no diagnostic")
  local shown = vim.diagnostic.get(0)[1]
  vim.api.nvim_win_set_cursor(0, { shown.lnum + 1, shown.col })
  local params = vim.lsp.util.make_range_params()
  params.context = { diagnostics = {} }
  local answers = assert(vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 60000))
  for _, action in ipairs(answers[client].result) do
    if action.isPreferred then
      vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
    end
  end
  vim.cmd("write")
  assert(vim.wait(60000, function() return #vim.diagnostic.get(0) == 0 end, 50), "the diagnostic remains")
  written(string.format("%d:%d: %s", shown.lnum + 1, shown.col + 1, shown.message))
end
local ok, fault = pcall(run)
if not ok then written("failed: " .. tostring(fault)) end
vim.cmd("qall!")
