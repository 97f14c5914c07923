import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import okhttp3.HttpUrl;
import okhttp3.Interceptor;
import okhttp3.Response;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.JobsApi;
import org.openapitools.client.model.ListedJob;

/** Prints the state of each job. */
class Jobs {
  private static final Pattern NEXT = Pattern.compile("<([^>]*)>; rel=\"next\"");
  private static final String BASE_URL = System.getenv("BASE_URL");

  /** Repeats a request that came too soon, after the seconds in Retry-After. A spent allowance lasts until the next day. */
  static Response patient(Interceptor.Chain chain) throws IOException {
    for (; ; ) {
      Response response = chain.proceed(chain.request());
      long seconds = Long.parseLong(response.header("Retry-After", "1"));
      if ((response.code() != 429 && response.code() != 503) || seconds > 60) return response;
      response.close();
      try {
        Thread.sleep(seconds * 1000);
      } catch (InterruptedException error) {
        throw new IOException(error);
      }
    }
  }

  /** The cursor of the next page, from the header Link; null on the last one. */
  static String next(ApiResponse<?> page) {
    List<String> links = page.getHeaders().getOrDefault("link", List.of());
    Matcher found = NEXT.matcher(String.join(",", links));
    return found.find() ? HttpUrl.get(BASE_URL).resolve(found.group(1)).queryParameter("cursor") : null;
  }

  static String state(JobsApi jobs, String id) throws ApiException {
    try {
      return jobs.readJob(id).getStatus().getValue();
    } catch (ApiException error) {
      JsonObject problem = JsonParser.parseString(error.getResponseBody()).getAsJsonObject();
      if (problem.has("code") && problem.get("code").getAsString().equals("job_not_found")) return "expired";
      throw error;
    }
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(BASE_URL);
    client.setBearerToken(System.getenv("TOKEN"));
    client.setHttpClient(client.getHttpClient().newBuilder().addInterceptor(Jobs::patient).build());
    JobsApi jobs = new JobsApi(client);
    String cursor = null;
    do {
      ApiResponse<List<ListedJob>> page = jobs.listRecentJobsWithHttpInfo(null, null, null, cursor);
      for (ListedJob job : page.getData() == null ? List.<ListedJob>of() : page.getData()) {
        System.out.println(job.getJobId() + " " + state(jobs, job.getJobId().toString()));
      }
      cursor = next(page);
    } while (cursor != null);
    client.getHttpClient().dispatcher().executorService().shutdown();
  }
}
