/** The script of the map page. Names come from providers, so all of them are set as text. */

export const script = `
const $ = (id) => document.getElementById(id)
const [width, height, margin] = [640, 440, 48]
const draw = (name, attributes, text) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  if (text !== undefined) element.textContent = text
  return element
}
const oneDigit = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
const inKm = (metres) => (metres / 1000).toLocaleString('en', metres >= 100000 ? { maximumFractionDigits: 0 } : oneDigit)
const km = (metres) => metres >= 1000 ? inKm(metres) + ' km' : Math.round(metres) + ' m'
/** Rounds an approximate time as the text does: from ten hours on to hours, below to five minutes. */
function duration(seconds, approximate) {
  const exact = Math.max(1, Math.round(seconds / 60))
  const step = !approximate ? 1 : exact >= 600 ? 60 : exact >= 30 ? 5 : 1
  const minutes = Math.round(exact / step) * step
  const rest = minutes % 60 === 0 ? '' : minutes % 60 + ' min'
  return minutes >= 60 ? (Math.floor(minutes / 60) + ' h ' + rest).trimEnd() : minutes + ' min'
}
const round = (value) => Math.round(value * 10) / 10
const shorten = (name) => [...name].length > 32 ? [...name].slice(0, 31).join('') + '…' : name

/** Equirectangular around the centre: accurate enough for a country. */
function projection(points) {
  const bounds = (of) => points.reduce(([low, high], point) => [Math.min(low, of(point)), Math.max(high, of(point))], [Infinity, -Infinity])
  const [south, north] = bounds(({ lat }) => lat)
  const [west, east] = bounds(({ lon }) => lon)
  const squeeze = Math.cos((south + north) / 2 * Math.PI / 180)
  const scale = Math.min((width - 2 * margin) / Math.max((east - west) * squeeze, 1e-4), (height - 2 * margin) / Math.max(north - south, 1e-4))
  const left = (width - (east - west) * squeeze * scale) / 2
  const top = (height - (north - south) * scale) / 2
  return { metresPerPixel: 111320 / scale, to: ({ lat, lon }) => [round(left + (lon - west) * squeeze * scale), round(top + (north - lat) * scale)] }
}

/** Returns points every few pixels along the lines, which labels keep clear of. */
const samplesOf = (lines) => lines.flatMap((line) => line.flatMap(([x, y], at) => {
  const [fromX, fromY] = line[at - 1] ?? [x, y]
  const count = Math.max(1, Math.ceil(Math.hypot(x - fromX, y - fromY) / 5))
  return Array.from({ length: count }, (_, n) => [fromX + (x - fromX) * (n + 1) / count, fromY + (y - fromY) * (n + 1) / count])
}))
/** Puts a label beside its place, on the side where it covers least. */
function labelAt([x, y], text, samples) {
  const size = [...text].length * 9
  const centre = x - size / 2
  const right = ['start', x + 13, y + 5, x + 13]
  const left = ['end', x - 13, y + 5, x - 13 - size]
  const sides = [right, left, ['middle', x, y - 14, centre], ['middle', x, y + 26, centre]]
  const cost = ([, , baseline, left]) => samples.filter(([at, down]) => at > left - 3 && at < left + size + 3 && down > baseline - 17 && down < baseline + 6).length
    + (left < 4 || left + size > width - 4 || baseline < 18 || baseline > height - 34 ? 1000 : 0)
  const [anchor, atX, atY] = sides.toSorted((a, b) => cost(a) - cost(b))[0]
  return { x: atX, y: atY, 'text-anchor': anchor }
}

function drawMap({ places, routes }, chosen) {
  const map = $('map')
  const { to, metresPerPixel } = projection([...routes.flatMap(({ line }) => line), ...places])
  const points = ({ line }) => line.map((point) => to(point).join(',')).join(' ')
  const parts = []
  for (let at = 80; at < width; at += 80) parts.push(draw('path', { class: 'grid', d: 'M' + at + ' 0V' + height + 'M0 ' + at + 'H' + width }))
  routes.forEach((route, index) => index === chosen || parts.push(draw('polyline', { class: 'other', points: points(route) })))
  const best = points(routes[chosen])
  parts.push(draw('polyline', { class: 'case', points: best }), draw('polyline', { class: 'best', points: best }))
  const samples = samplesOf([...routes.map(({ line }) => line.map(to)), ...places.map((place) => [to(place)])])
  places.forEach((place, index) => {
    const [x, y] = to(place)
    const kind = index === 0 ? 'start' : index === places.length - 1 ? 'end' : 'stop'
    parts.push(draw('circle', { class: kind, cx: x, cy: y, r: 7 }))
    parts.push(draw('text', labelAt([x, y], shorten(place.name), samples), shorten(place.name)))
  })
  const target = metresPerPixel * width / 5
  const power = 10 ** Math.floor(Math.log10(target))
  const metres = [5, 2, 1].map((step) => step * power).find((step) => step <= target) ?? power
  const pixels = round(metres / metresPerPixel)
  parts.push(draw('path', { class: 'scale', d: 'M16 ' + (height - 22) + 'v6h' + pixels + 'v-6' }))
  parts.push(draw('text', { class: 'note', x: 22 + pixels, y: height - 16 }, metres >= 1000 ? metres / 1000 + ' km' : metres + ' m'))
  map.replaceChildren(...parts)
  map.setAttribute('aria-label', places.map(({ name }) => name).join(' → '))
  map.toggleAttribute('hidden', false)
}

function show(trip, chosen = 0) {
  const route = trip.routes[chosen]
  app.text($('problem'), '')
  app.text($('title'), trip.places.map(({ name }) => name).join(' → '))
  app.text($('summary'), (trip.approximate ? 'about ' : '') + km(route.distanceM) + ', ' + duration(route.durationS, trip.approximate)
    + (route.traffic ? ', ' + duration(route.traffic.delayS) + ' of it delay' : ''))
  app.text($('note'), trip.approximate ? 'Distances and times are approximate.' : '')
  $('choices').hidden = trip.routes.length < 2
  $('choices').replaceChildren(...trip.routes.map(({ distanceM, durationS }, index) => {
    const button = document.createElement('button')
    button.textContent = 'Route ' + (index + 1) + ': ' + km(distanceM) + ', ' + duration(durationS, trip.approximate)
    button.setAttribute('aria-pressed', String(index === chosen))
    button.onclick = () => show(trip, index)
    return button
  }))
  drawMap(trip, chosen)
  const [summary, list] = $('steps').children
  $('steps').hidden = route.steps.length === 0
  summary.textContent = route.steps.length + (route.steps.length === 1 ? ' step' : ' steps')
  list.replaceChildren(...route.steps.map(({ text, distanceM }) => {
    const item = document.createElement('li')
    const length = document.createElement('span')
    item.textContent = text
    length.textContent = km(distanceM)
    item.append(length)
    return item
  }))
}

/** The whole route is beside the answer, or in the server's resource. */
async function tripOf({ content = [], structuredContent = {} }) {
  const isRoute = (uri) => String(uri).startsWith('route://')
  const inside = content.find(({ type, resource }) => type === 'resource' && isRoute(resource?.uri))?.resource
  if (inside?.text) return JSON.parse(inside.text)
  const link = content.find(({ type, uri }) => type === 'resource_link' && isRoute(uri))?.uri
  const { contents } = await app.readResource(link ?? 'route://' + structuredContent.id)
  return JSON.parse(contents[0].text)
}
app.onerror = ({ message }) => app.text($('problem'), message)
app.onresult = async (result) => {
  if (result.isError) {
    app.text($('title'), 'No route')
    throw new Error((result.content ?? []).map(({ text }) => text ?? '').join('\\n'))
  }
  show(await tripOf(result))
}
`
