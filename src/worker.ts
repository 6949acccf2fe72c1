export default { fetch: () => new Response("Millrace") };
