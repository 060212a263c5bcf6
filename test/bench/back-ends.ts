/** Where jobs and signals live. */
export const backEnds = ['redis', 'postgres'] as const
export type BackEnd = (typeof backEnds)[number]
