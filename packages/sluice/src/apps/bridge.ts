/**
 * The page's side of MCP Apps (2026-01-26): JSON-RPC over `postMessage` with the client. It is a text because it runs in
 * the page. As a function it would break once a bundler renames what it calls.
 */

export const bridge = `const app = (() => {
  let lastId = 0
  let input = {}
  const open = new Map()
  const root = document.documentElement
  const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      open.set(++lastId, { resolve, reject })
      send({ id: lastId, method, params })
    })
  const fail = (thrown) => app.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown)))
  const run = async (work) => {
    try { await work() } catch (thrown) { fail(thrown) }
  }
  function show({ theme, styles } = {}) {
    if (theme) root.dataset.theme = theme
    for (const [name, value] of Object.entries(styles?.variables ?? {}))
      if (name.startsWith('--') && value) root.style.setProperty(name, value)
  }
  const notifications = {
    'ui/notifications/tool-input': (params) => { input = params.arguments ?? {} },
    'ui/notifications/tool-result': (params) => run(() => app.onresult?.(params, input)),
    'ui/notifications/tool-cancelled': (params) => fail('The call was cancelled. ' + (params.reason ?? '')),
    'ui/notifications/host-context-changed': show,
  }
  const requests = { ping: () => ({}), 'ui/resource-teardown': () => ({}) }
  addEventListener('message', ({ source, data }) => {
    // Any window can send a message to this one.
    if (source !== parent || data?.jsonrpc !== '2.0') return
    const { id, method, params = {}, result, error } = data
    if (method === undefined) {
      const waiting = open.get(id)
      open.delete(id)
      if (error) waiting?.reject(new Error(error.message))
      else waiting?.resolve(result)
    } else if (id === undefined) {
      if (Object.hasOwn(notifications, method)) notifications[method](params)
    } else if (Object.hasOwn(requests, method)) send({ id, result: requests[method]() })
    else send({ id, error: { code: -32601, message: 'Method not found' } })
  })
  function reportSize() {
    const { width, height } = root.getBoundingClientRect()
    send({ method: 'ui/notifications/size-changed', params: { width: Math.ceil(width), height: Math.ceil(height) } })
  }
  return {
    onresult: undefined,
    onerror: undefined,
    callTool: (name, args = {}) => request('tools/call', { name, arguments: args }),
    readResource: (uri) => request('resources/read', { uri }),
    text(element, text) {
      element.textContent = text
      element.hidden = text === ''
    },
    connect: (name) =>
      run(async () => {
        const params = { appInfo: { name, version: '1' }, appCapabilities: {}, protocolVersion: '2026-01-26' }
        const { hostContext } = await request('ui/initialize', params)
        show(hostContext)
        send({ method: 'ui/notifications/initialized', params: {} })
        new ResizeObserver(reportSize).observe(root)
      }),
  }
})()`
