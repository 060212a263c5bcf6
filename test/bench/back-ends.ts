/** The back ends for jobs and signals. */
export const backEnds = ['redis', 'postgres'] as const
export type BackEnd = (typeof backEnds)[number]
