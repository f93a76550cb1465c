/** The version of this checkout, as package.json has it. The service sends it, so that an older command line can say so. */
export const GATEHOUSE_VERSION = '0.1.0';
/** On responses of the management API. */
export const VERSION_HEADER = 'X-Gatehouse-Version';
