/** The screens on which the page must look right and be accessible. */

interface Screen {
  viewport: { width: number; height: number };
  colorScheme: 'light' | 'dark';
  deviceScaleFactor?: number;
}

const sizes = [
  { viewport: { width: 1440, height: 900 } },
  { viewport: { width: 1024, height: 768 } },
  { viewport: { width: 390, height: 844 } },
];

/** A screen of 1440 px at 200 %, and the narrowest width, which is 1280 px at 400 % (WCAG 2.2, 1.4.4 and 1.4.10). */
const zoomed = [
  { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  { viewport: { width: 320, height: 640 } },
];

const inBothThemes = (some: Omit<Screen, 'colorScheme'>[]): Screen[] =>
  some.flatMap((screen) => [
    { ...screen, colorScheme: 'light' as const },
    { ...screen, colorScheme: 'dark' as const },
  ]);

export const screens = inBothThemes(sizes);

export const zoomedScreens = inBothThemes(zoomed);
