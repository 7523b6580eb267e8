/** Removes accents, so that "Ha Noi" finds "Hà Nội". */

/** Letters that Unicode does not decompose into a letter and a mark. */
const letters: Readonly<Record<string, string>> = {
  ...{ đ: 'd', ð: 'd', ł: 'l', ø: 'o', ı: 'i', ħ: 'h', ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' },
}

/** Takes lower case. */
export const foldAccents = (word: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: most words are ASCII and need no work
  /^[\x00-\x7f]*$/.test(word)
    ? word
    : word
        .normalize('NFD')
        .replace(/\p{Mn}/gu, '')
        .replace(/[đðłøıħßæœþ]/g, (letter) => letters[letter] ?? letter)
        .normalize('NFC')

/** Normalizes a name, so that links find it in any case, with or without accents. */
export const foldName = (name: string): string => foldAccents(name.trim().toLowerCase())
