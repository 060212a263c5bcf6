/**
 * The name and the wanted version of an integration, an interface or a plugin. Every version of the name is compared with
 * the whole range, so a range is no longer than a version may be.
 */
export const nameAndRange = {
  name: { type: 'string', maxLength: 200 },
  version: {
    type: 'string',
    maxLength: 200,
    description: 'A version, a range such as `>=1.0.0 <2.0.0`, or `latest`.',
  },
} as const
