/** Makes all modules that this process loads after this one use `local-runtime.ts` instead of production's runtime. */
import { registerHooks } from 'node:module';
import { LOCAL_STACK } from './condition.ts';

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, { ...context, conditions: [...context.conditions, LOCAL_STACK] }),
});
