/**
 * Checks the values of `format`, each in linear time. Unknown formats are annotations.
 *
 * Not checked: `iri`, `iri-reference`, `idn-email`, `idn-hostname` and the Punycode in a `hostname`, because their
 * rules need tables larger than this library.
 */

type Format = (text: string) => boolean

/** The calendar repeats every 400 years, and `Date.UTC` takes the years below 100 for others. */
const daysIn = (year: number, month: number): number => new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()

const isDate: Format = (text) => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number)
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

const isTime: Format = (text) => {
  const match = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text)
  if (!match) return false
  const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number)
  const [offsetHour, offsetMinute] = [Number(match[5] ?? 0), Number(match[6] ?? 0)]
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // A leap second is the last second of a day in UTC.
  const offset = (offsetHour * 60 + offsetMinute) * (match[4] === '-' ? -1 : 1)
  return (hour * 60 + minute - offset + 2 * 1440) % 1440 === 1439
}

const isDateTime: Format = (text) => isDate(text.slice(0, 10)) && /^t$/i.test(text[10] ?? '') && isTime(text.slice(11))

const isDuration: Format = (text) =>
  /^P(?=.)(?:\d+W|(?:\d+D|\d+M(?:\d+D)?|\d+Y(?:\d+M(?:\d+D)?)?)?(?:T(?:\d+S|\d+M(?:\d+S)?|\d+H(?:\d+M(?:\d+S)?)?))?)$/.test(
    text,
  )

const isLabel: Format = (label) =>
  label.length <= 63 &&
  /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/i.test(label) &&
  (label.slice(2, 4) !== '--' || /^xn/i.test(label))
const isHostname: Format = (text) => text.length <= 253 && text.split('.').every(isLabel)

const isIpv4: Format = (text) => {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
}

const isIpv6: Format = (text) => {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return false
  const groups = [head, tail ?? ''].flatMap((part) => (part === '' ? [] : part.split(':')))
  const last = groups.at(-1)
  const endsInIpv4 = last?.includes('.') === true && (tail !== '' || tail === undefined)
  if (endsInIpv4 && !isIpv4(last)) return false
  const words = endsInIpv4 ? groups.slice(0, -1) : groups
  const count = words.length + (endsInIpv4 ? 2 : 0)
  return words.every((word) => /^[\da-f]{1,4}$/i.test(word)) && (tail === undefined ? count === 8 : count <= 7)
}

const isEmail: Format = (text) => {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || local.length > 64) return false
  const isQuoted = /^"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/.test(local)
  if (!isQuoted && !local.split('.').every((atom) => /^[\w!#$%&'*+\-/=?^`{|}~]+$/.test(atom))) return false
  const literal = /^\[(IPv6:)?(.*)\]$/i.exec(domain)
  if (!literal) return isHostname(domain)
  return literal[1] ? isIpv6(literal[2] ?? '') : isIpv4(literal[2] ?? '')
}

/** RFC 3986: allowed characters, complete escapes, and the form of each component. */
const isUriReference: Format = (text) => {
  if (!/^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\da-f]{2})*$/i.test(text)) return false
  const [, scheme, authority, path = '', , fragment] =
    /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(?:#(.*))?$/s.exec(text) ?? []
  if (scheme !== undefined && !/^[a-z][a-z\d+.-]*$/i.test(scheme)) return false
  if (/[[\]]/.test(path) || fragment?.includes('#')) return false
  if (authority === undefined) return scheme !== undefined || !/^[^/]*:/.test(path)
  const [, user = '', host = '', port = ''] = /^(?:([^@]*)@)?(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(authority) ?? []
  if (/[[\]@]/.test(user) || !/^\d*$/.test(port)) return false
  if (!host.startsWith('[')) return !/[[\]@]/.test(host) && authority !== '@'
  return isIpv6(host.slice(1, -1)) || /^\[v[\da-f]+\.[\w\-.~!$&'()*+,;=:]+\]$/i.test(host)
}

const isUri: Format = (text) => /^[a-z][a-z\d+.-]*:/i.test(text) && isUriReference(text)

const isVariable: Format = (text) => /^(?:\w|%[\da-f]{2})(?:\.?(?:\w|%[\da-f]{2}))*(?::[1-9]\d{0,3}|\*)?$/i.test(text)
const isUriTemplate: Format = (text) =>
  text.split('{').every((part, index) => {
    const [expression, literal, ...more] = index === 0 ? ['', part] : part.split('}')
    if (literal === undefined || more.length > 0) return false
    const isExpression =
      index === 0 ||
      (expression ?? '')
        .replace(/^[+#./;?&=,!@|]/, '')
        .split(',')
        .every(isVariable)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 6570 excludes them from literals
    return isExpression && /^(?:[^\x00-\x20"<>%\\^`{|}\x7f]|%[\da-f]{2})*$/i.test(literal)
  })

/** The valid property escapes so far. There are a few thousand at most. */
const propertyEscapes = new Set<string>()
/**
 * Replaces property escapes by a shorter class. The engine expands each one into hundreds of ranges, so that a megabyte
 * of `\p{L}` would take it a minute.
 */
const isRegex: Format = (text) => {
  try {
    const plain = text.replace(/\\(?:[pP]\{[\w=]{1,64}\}|[\s\S])/g, (escape) => {
      if (escape.length === 2) return escape
      if (!propertyEscapes.has(escape)) new RegExp(escape, 'u')
      propertyEscapes.add(escape)
      return '\\d'
    })
    new RegExp(plain, 'u')
    return true
  } catch {
    return false
  }
}

const formats: ReadonlyMap<unknown, Format> = new Map([
  ['date', isDate],
  ['time', isTime],
  ['date-time', isDateTime],
  ['duration', isDuration],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['uri', isUri],
  ['url', isUri],
  ['uri-reference', isUriReference],
  ['uri-template', isUriTemplate],
  ['uuid', (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)],
  ['json-pointer', (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text)],
  ['relative-json-pointer', (text) => /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/.test(text)],
  ['regex', isRegex],
])

export const formatOf = (name: unknown): Format | undefined => formats.get(name)
