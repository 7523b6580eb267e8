/** Media types of the files that skills have. Others are plain text, or bytes. */

const types: { readonly [extension: string]: string } = {
  md: 'text/markdown',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  csv: 'text/csv',
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  py: 'text/x-python',
  sh: 'application/x-sh',
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
}

export function mediaTypeOf(path: string, isText: boolean): string {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  if (Object.hasOwn(types, extension)) return types[extension] ?? ''
  return isText ? 'text/plain' : 'application/octet-stream'
}
