/** Sending hours, and the time of the day by them, in tests with a simulated clock. */
import type { SendingHours } from '../../../shared/core/sending-hours.ts';

export const HOURS: SendingHours = { between: ['08:00', '20:00'], time_zone: 'Africa/Johannesburg' };

/** Noon and ten in the evening in Johannesburg, and eight in the next morning, when the hours begin. */
export const NOON = Date.UTC(2030, 0, 1, 10);
export const NIGHT = Date.UTC(2030, 0, 1, 20);
export const MORNING = Date.UTC(2030, 0, 2, 6);
