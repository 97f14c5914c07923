/** Sets properties of a deployment, for a test file that imports this before all other modules, as in a function. */
process.env.MORE_PROPERTIES = '{"loyalty_tier":"automatic","shoe_size":"approval"}';
