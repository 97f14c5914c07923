import com.google.gson.Gson;
import java.io.File;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.MediaApi;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.api.ResearchProfilersApi;
import org.openapitools.client.api.StatisticsApi;
import org.openapitools.client.api.UserDataApi;
import org.openapitools.client.model.*;

/** A customer's program with the client of openapi-generator. Prints what it got, as JSON. */
class Program {
  public static void main(String[] arguments) throws Exception {
    String panelist = System.getenv("PANELIST");
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("BASE_URL"));
    client.setBearerToken(System.getenv("TOKEN"));

    TextMessage text =
        new TextMessage()
            .to(new Recipients(panelist))
            .type(TextMessage.TypeEnum.TEXT)
            .text(new MessageText().body("Good morning from Java!"));
    AcceptedMessage sent =
        new MessagesApi(client).sendMessage(new Message(text), null, null, null).getAcceptedMessage();

    ResearchProfilersApi profilers = new ResearchProfilersApi(client);
    CreatedProfiler created =
        profilers.createProfiler(
            new NewProfiler().question("What do you drink?").options(List.of("Tea", "Coffee")), null);
    profilers.answerProfiler(
        new Answer()
            .profilerId(created.getProfilerId().toString())
            .optionId(created.getOptions().get("tea"))
            .phoneNumber(panelist));

    boolean logged = false;
    for (int attempt = 0; attempt < 20 && !logged; attempt += 1) {
      List<LogEntry> logs =
          new StatisticsApi(client).listLogs(null, panelist, null, null, null, null, null, null);
      for (LogEntry entry : logs == null ? List.<LogEntry>of() : logs) {
        logged |= entry.getId().equals(sent.getId()) && entry.getState() == DeliveryState.SENT;
      }
      if (!logged) Thread.sleep(500);
    }

    UserDataApi userData = new UserDataApi(client);
    StartedUserDataRequest started =
        userData.startUserDataRequest(
            panelist,
            new NewUserDataRequest()
                .reason("To support your phone")
                .data(List.of(new RequestedProperty().property(PropertyName.DEVICE_PLATFORM))),
            null);
    UserData fetched = userData.fetchUserData(started.getRequestId().toString(), 5);
    GrantedResult granted = fetched.getResults().get("device_platform").getGrantedResult();

    UploadedMedia uploaded = new MediaApi(client).uploadImage(new File(System.getenv("PICTURE")));

    Map<String, Object> result =
        Map.of(
            "message", sent.getId().toString(),
            "profiler", created.getProfilerId().toString(),
            "logged", logged,
            "request", started.getRequestId().toString(),
            "platform", granted.getValue(),
            "picture", uploaded.getUrl().toString());
    System.out.println(new Gson().toJson(result));
    client.getHttpClient().dispatcher().executorService().shutdown();
  }
}
