/** The script of the page. It asks the server for other ranges through the client. */

export const script = `
const $ = (id) => document.getElementById(id)
const [width, height, left, right, top, bottom] = [720, 320, 40, 12, 12, 28]
const draw = (name, attributes, text) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  if (text !== undefined) element.textContent = text
  return element
}
const kinds = [['ctl', 'Fitness'], ['atl', 'Fatigue'], ['tsb', 'Form'], ['stress', 'Stress of the day']]
const number = (value) => value.toFixed(1).replace('-', '−')

function showValues(day) {
  $('values').replaceChildren(...[['day', 'Day'], ...kinds].map(([kind, name]) => {
    const row = document.createElement('div')
    const [term, value] = [document.createElement('dt'), document.createElement('dd')]
    row.dataset.kind = kind
    term.textContent = kind === 'day' ? '' : name
    term.hidden = kind === 'day'
    value.textContent = kind === 'day' ? day.day : number(day[kind])
    row.append(term, value)
    return row
  }))
}

function drawChart(days) {
  const chart = $('chart')
  const lines = days.flatMap(({ ctl, atl, tsb }) => [ctl, atl, tsb])
  const high = lines.reduce((a, b) => Math.max(a, b), 10)
  const low = lines.reduce((a, b) => Math.min(a, b), 0)
  const most = days.reduce((a, { stress }) => Math.max(a, stress), 1)
  const x = (at) => left + at / Math.max(1, days.length - 1) * (width - left - right)
  const y = (value) => top + (high - value) / (high - low) * (height - top - bottom)
  const parts = []
  const barWidth = Math.max(0.5, (width - left - right) / days.length * 0.7)
  days.forEach(({ stress }, at) => {
    const size = stress / most * (y(0) - top) * 0.5
    if (size > 0) parts.push(draw('rect', { class: 'bar', x: x(at) - barWidth / 2, y: y(0) - size, width: barWidth, height: size }))
  })
  const step = [5, 10, 20, 25, 50, 100, 200].find((each) => (high - low) / each <= 6) ?? 500
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step)
    parts.push(draw('path', { class: tick === 0 ? 'zero' : 'grid', d: 'M' + left + ' ' + y(tick) + 'H' + (width - right) }),
      draw('text', { x: left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, String(tick).replace('-', '−')))
  const every = Math.max(1, Math.ceil(days.length / 6))
  for (let at = 0; at < days.length; at += every)
    parts.push(draw('text', { x: x(at), y: height - 8, 'text-anchor': at === 0 ? 'start' : 'middle' }, days[at].day.slice(days.length > 180 ? 0 : 5, days.length > 180 ? 7 : undefined)))
  for (const kind of ['tsb', 'atl', 'ctl'])
    parts.push(draw('polyline', { class: kind, points: days.map((day, at) => x(at).toFixed(1) + ',' + y(day[kind]).toFixed(1)).join(' ') }))
  const cursor = draw('path', { class: 'cursor', d: '', visibility: 'hidden' })
  chart.replaceChildren(...parts, cursor)
  chart.toggleAttribute('hidden', false)
  chart.onpointermove = ({ clientX }) => {
    const box = chart.getBoundingClientRect()
    const share = ((clientX - box.left) / box.width * width - left) / (width - left - right)
    const at = Math.min(days.length - 1, Math.max(0, Math.round(share * (days.length - 1))))
    cursor.setAttribute('d', 'M' + x(at) + ' ' + top + 'V' + (height - bottom))
    cursor.setAttribute('visibility', 'visible')
    showValues(days[at])
  }
  chart.onpointerleave = () => {
    cursor.setAttribute('visibility', 'hidden')
    showValues(days.at(-1))
  }
}

function show({ synthetic, note = '', meaning = '', days }, range) {
  app.text($('problem'), '')
  app.text($('note'), synthetic ? 'Made-up data.' : note)
  app.text($('meaning'), meaning)
  $('ranges').replaceChildren(...[28, 90, 365].map((count) => {
    const button = document.createElement('button')
    button.textContent = count === 365 ? 'Year' : count + ' days'
    button.setAttribute('aria-pressed', String(count === range))
    button.onclick = () => load(count)
    return button
  }))
  if (days.length === 0) return
  showValues(days.at(-1))
  drawChart(days)
}

async function load(days) {
  for (const button of $('ranges').children) button.disabled = true
  try {
    const result = await app.callTool('analyze_training_load', { days })
    if (result.isError) throw new Error((result.content ?? []).map(({ text }) => text ?? '').join('\\n'))
    show(result.structuredContent, days)
  } catch (thrown) {
    app.onerror(thrown)
  } finally {
    for (const button of $('ranges').children) button.disabled = false
  }
}
app.onerror = ({ message }) => app.text($('problem'), message)
app.onresult = (result, { days = 28 }) => {
  if (result.isError) throw new Error((result.content ?? []).map(({ text }) => text ?? '').join('\\n'))
  // In TOON the answer has no data for programs, so the page asks for it.
  return result.structuredContent ? show(result.structuredContent, days) : load(days)
}
`
