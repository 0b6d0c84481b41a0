export const base = ''
